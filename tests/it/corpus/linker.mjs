// The smallest worker: links and runs what cs_compile makes of modules.
import path from 'node:path';
import vm from 'node:vm';
import {compile, imports} from './tool.mjs';

export class Linker {
  #modules = new Map();

  // './x.mjs' in the cases is x.mts beside them.
  #resolve(specifier, from) {
    return path.resolve(path.dirname(from), specifier).replace(/\.mjs$/, '.mts');
  }

  #load(file) {
    if (this.#modules.has(file)) return this.#modules.get(file);
    const [answer] = compile([file], 'module', '--check');
    if (answer.kind !== 'ok') throw new SyntaxError(`${file}:${answer.line}:${answer.column}: ${answer.text}`);
    const m = {file, names: {}, stars: [], namespace: Object.create(null), started: false};
    this.#modules.set(file, m);
    m.dependencies = imports(file).map(specifier => this.#load(this.#resolve(specifier, file)));
    m.turn = new Promise(resolve => { m.go = resolve; });
    const fn = vm.runInThisContext(answer.text, {filename: file});
    m.done = fn(
      m.dependencies.map(d => d.namespace),
      (names, stars) => { m.names = names; m.stars = stars; },
      () => m.turn,
      async specifier => (await this.run(this.#resolve(specifier, file))),
      {url: 'file://' + file},
    );
    m.done.catch(() => {});
    return m;
  }

  #exported(m, seen = new Set()) {
    if (seen.has(m)) return {};
    seen.add(m);
    const all = {};
    for (const i of m.stars) {
      for (const [name, get] of Object.entries(this.#exported(m.dependencies[i], seen))) {
        if (name !== 'default') all[name] = get;
      }
    }
    return {...all, ...m.names};
  }

  async #evaluate(m) {
    if (m.started) return;
    m.started = true;
    for (const d of m.dependencies) await this.#evaluate(d);
    m.go();
    await m.done;
  }

  async run(file) {
    const fresh = !this.#modules.has(file);
    const m = this.#load(file);
    if (fresh) {
      for (const one of this.#modules.values()) {
        for (const [name, get] of Object.entries(this.#exported(one))) {
          if (!(name in one.namespace)) Object.defineProperty(one.namespace, name, {get, enumerable: true});
        }
      }
    }
    await this.#evaluate(m);
    return m.namespace;
  }
}
