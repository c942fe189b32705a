class A { constructor(private x) {} get
: any
 *b() {} }
enum E { A = 1, B }
x as any
(y)