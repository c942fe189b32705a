return 'a';
}
evil();
async function b() {
return 'x';