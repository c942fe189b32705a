/* URL and URLSearchParams. The table of the parser is in url_cases.js. */
#include "worker/cases.h"

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "re");
    CS_AUTO_BUF struct cs_buf b = {0};
    char part[4096];
    size_t n;
    while (f && (n = fread(part, 1, sizeof part, f)) > 0)
        cs_buf_put(&b, part, n);
    if (f)
        fclose(f);
    return cs_strndup(b.at ? b.at : "", b.len);
}

static struct worker_case cases[] = {
    {"the_parser_agrees_with_the_standard", NULL, .result = "[]"},
    {"parts_of_a_URL",
     "const u = new URL('https://us%40er:p@EXAMPLE.com:8443/a/../b?x=1#h'); return [u.href, "
     "u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, "
     "u.search, u.hash, String(u), JSON.stringify(u)]",
     .result = "[\"https://us%40er:p@example.com:8443/b?x=1#h\",\"https://example.com:8443\","
               "\"https:\",\"us%40er\",\"p\",\"example.com:8443\",\"example.com\",\"8443\",\"/b\","
               "\"?x=1\",\"#h\",\"https://us%40er:p@example.com:8443/b?x=1#h\","
               "\"\\\"https://us%40er:p@example.com:8443/b?x=1#h\\\"\"]"},
    {"canParse_and_parse",
     "return [URL.canParse('x:y'), URL.canParse('nope'), URL.parse('nope'), "
     "URL.parse('a', 'http://h').href]",
     .result = "[true,false,null,\"http://h/a\"]"},
    {"an_invalid_URL_is_a_TypeError", "new URL('nope')", .type = "type_error",
     .contains = "Invalid URL: 'nope'"},
    {"origins",
     "return ['file:///x', 'blob:https://h/id', 'foo://h', 'ws://h:80'].map((u) => new "
     "URL(u).origin)",
     .result = "[\"null\",\"https://h\",\"null\",\"ws://h\"]"},
    {"params_from_everything",
     "return ['a=1&b=%20+&&=', '?q', {a: 1}, [['x', 'y z']], new Map([['k', 'é']]), undefined]"
     ".map((i) => new URLSearchParams(i).toString())",
     .result = "[\"a=1&b=++&=\",\"q=\",\"a=1\",\"x=y+z\",\"k=%C3%A9\",\"\"]"},
    {"params_change",
     "const p = new URLSearchParams('b=2&a=1&b=3'); p.append('c', '&='); p.set('b', 'x'); "
     "p.delete('a'); p.sort(); return [p.toString(), p.size, p.has('b', 'x'), p.get('none'), "
     "p.getAll('c'), [...p], [...p.keys()], [...p.values()]]",
     .result = "[\"b=x&c=%26%3D\",2,true,null,[\"&=\"],[[\"b\",\"x\"],[\"c\",\"&=\"]],[\"b\",\"c\"]"
               ",[\"x\",\"&=\"]]"},
    {"params_belong_to_their_URL",
     "const u = new URL('http://h/?a=1'); u.searchParams.append('b', 'ü'); const one = u.href; "
     "u.search = '?z=9'; const two = u.searchParams.get('z'); u.searchParams.delete('z'); return "
     "[one, two, u.href]",
     .result = "[\"http://h/?a=1&b=%C3%BC\",\"9\",\"http://h/\"]"},
    {"a_pair_needs_two", "new URLSearchParams([['a']])", .type = "type_error"},
    {"a_URL_shows_itself",
     "console.log(new URL('http://h/x'), [new URLSearchParams('a=1')]); "
     "return 1",
     .log = "URL { href: 'http://h/x' }"},
};

int main(void)
{
    CS_AUTO_FREE char *table = read_text(CS_SOURCE_DIR "/tests/unit/worker/url_cases.js");
    cases[0].source = table;
    return run_cases("worker_url", cases, CS_COUNT(cases));
}
