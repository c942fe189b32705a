let a = async <
T>(x) => yield_; //   }) 
function f() { return <
any>b }