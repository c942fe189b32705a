/* What changes what everybody has: prototypes, and the functions of the language. */
#include "compile/facts.h"

static bool builtin(const struct cs_parser *p, uint32_t atom)
{
    static const char *const names[] = {
        "Object",  "Array", "String",     "Number",    "Boolean", "Function",   "Symbol",
        "Promise", "Map",   "Set",        "WeakMap",   "WeakSet", "Date",       "RegExp",
        "Error",   "JSON",  "Math",       "Reflect",   "Proxy",   "URL",        "Iterator",
        "BigInt",  "Intl",  "Uint8Array", "TypeError", "Atomics", "ArrayBuffer"};
    if (atom == CS_PART_ANY)
        return false;
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        if (cs_str_is(p->names.at[atom].text, names[i]))
            return true;
    }
    return false;
}

/* Does a change of this chain reach others? */
static bool shared(const struct cs_parser *p, uint32_t link)
{
    uint32_t atoms[CS_CHAIN_PARTS + 1], n = cs_chain_atoms(p, link, atoms, CS_COUNT(atoms));
    for (uint32_t i = 0; i < n; i++) {
        if (atoms[i] == K___proto__)
            return true;
        if (i > 0 && atoms[i - 1] == K_constructor && cs_part_is(p, atoms[i], "prototype"))
            return true;
    }
    return p->links.at[link].root == ROOT_FREE && builtin(p, atoms[0]);
}

static void note(struct cs_parser *p, struct cs_str name, const char *via, uint32_t pos)
{
    cs_fact_add(p, CS_FACT_PROTOTYPE, name, via, CS_STR(""), pos);
}

/* What is changed: from the prototype on, if the object is any. */
static struct cs_str changed_name(struct cs_parser *p, uint32_t link)
{
    struct cs_str name = cs_chain_text(p, link);
    const char *from = memmem(name.at, name.len, "__proto__", 9);
    if (!from && cs_str_starts(name, "*."))
        from = name.at + 2;
    return from ? cs_strn(from, name.len - (size_t)(from - name.at)) : name;
}

void cs_prototype_member(struct cs_parser *p, uint32_t node)
{
    static const char *const old[] = {"__defineGetter__", "__defineSetter__"};
    const struct cs_node *n = &p->nodes.at[node];
    struct cs_folded v = cs_fold_node(p, node);
    bool set = (n->flags & NODE_WRITTEN) != 0;
    for (size_t i = 0; i < CS_COUNT(old) && n->kind == NODE_MEMBER; i++) {
        if (cs_str_is(p->names.at[n->b].text, old[i]))
            note(p, cs_str(old[i]), "set", n->at);
    }
    if (v.sort != FOLD_CHAIN)
        return;
    const struct cs_link *l = &p->links.at[v.link];
    if (l->atom == K___proto__) {
        note(p, CS_STR("__proto__"), set ? "set" : "", n->at);
    } else if (set && shared(p, v.link)) {
        note(p, changed_name(p, v.link), "set", n->pos);
    } else if (l->up && p->links.at[l->up].atom == K_constructor &&
               cs_part_is(p, l->atom, "prototype")) {
        note(p, CS_STR("constructor.prototype"), "", n->at);
    }
}

void cs_prototype_call(struct cs_parser *p, uint32_t node, uint32_t link)
{
    static const char *const names[] = {"Object.setPrototypeOf",
                                        "Reflect.setPrototypeOf",
                                        "Object.defineProperty",
                                        "Object.defineProperties",
                                        "Reflect.defineProperty",
                                        "Object.assign",
                                        "Reflect.set",
                                        "Reflect.deleteProperty"};
    struct cs_link l = p->links.at[link];
    if (l.parts != 1 || l.root != ROOT_FREE ||
        (!cs_part_is(p, p->links.at[l.up].atom, "Object") &&
         !cs_part_is(p, p->links.at[l.up].atom, "Reflect")))
        return;
    uint32_t target = cs_list_at(p, p->nodes.at[node].b, 0) & ~CS_SPREAD;
    struct cs_folded v = cs_fold_node(p, target);
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        if (!cs_chain_is(p, link, names[i]))
            continue;
        /* Object.setPrototypeOf(this, ...) is what constructors of errors do. */
        bool own = p->nodes.at[target].kind == NODE_THIS && !p->nodes.at[target].a;
        if ((i < 2 && !own) || (v.sort == FOLD_CHAIN && shared(p, v.link)))
            note(p, i < 6 ? cs_str(names[i]) : changed_name(p, v.link), "set",
                 p->nodes.at[node].pos);
    }
}
