import { beforeAll, describe, expect, test } from 'vitest'
import { openNodeGrammars } from '../../../test/node-grammars.ts'
import type { Grammars } from '../chunk/code-grammars.ts'
import { PARSER_FAILED } from '../chunk/piece.ts'
import { checkPython } from './check-python.ts'
import { PythonModules } from './python-modules.ts'
import { copyTree, type SyntaxNode } from './syntax-tree.ts'

let grammars: Grammars

beforeAll(async () => {
  grammars = await openNodeGrammars(['python'])
})

function parse(text: string): SyntaxNode | undefined {
  const tree = grammars.parser('python')?.read(text, (root) => copyTree(root, text))
  return tree === PARSER_FAILED ? undefined : tree
}

/** What is missing or unknown in code that uses the given files of an environment. */
function check(files: Readonly<Record<string, string>>, code: string): string[] {
  const all = new Map(Object.entries(files).map(([path, text]) => [`/site/${path}`, text]))
  const info = { name: 'lamp', version: '1.0', folder: '/site', isEsm: false, hasEsm: false, isEsmOnly: false }
  const modules = new PythonModules(
    {
      read: (path) => all.get(path),
      hasFile: (path) => all.has(path),
      listFolder: (path) =>
        [...all.keys()].flatMap((one) => /^([^/]+)/.exec(one.split(`${path}/`)[1] ?? '')?.[1] ?? []),
      findTop: (name) => (name === 'lamp' ? { package: info, folder: '/site' } : undefined),
    },
    parse,
  )
  const root = parse(code)
  if (root === undefined) throw new Error('the code cannot be parsed')
  return checkPython(modules, root, (module) => (module === 'gone' ? 'gone 1.0 is not installed' : undefined))
    .filter(({ verdict }) => verdict !== 'exists')
    .map(
      ({ line, name, verdict, nearest }) => `${line} ${name}: ${verdict}${nearest === undefined ? '' : `, ${nearest}`}`,
    )
}

const LAMP = {
  'lamp/__init__.py': 'from .core import Lamp, light\nfrom . import oil\n__version__ = "1"\n',
  'lamp/oil.py': 'def fill(litres: int, *, kind="olive"): ...\n',
  'lamp/core.py': `
class Base:
    def close(self): self.closed = True
class Lamp(Base):
    color: str = "red"
    def __init__(self, watts, name=None): self.name = name
    def __enter__(self): return self
    def dim(self, level: int) -> "Lamp": ...
    @classmethod
    def create(cls, **options) -> "Lamp": ...
    @property
    def next(self) -> "Lamp": ...
def light(*lamps) -> Lamp: ...
`,
}

describe('Python code', () => {
  test('compiled modules and folders without __init__.py are unknown', () => {
    const files = { ...LAMP, 'lamp/_fast.cpython-311-x86_64-linux-gnu.so': '', 'lamp/data/map.txt': '' }
    const code = 'import lamp\nfrom lamp import _fast, data, paraffin\nlamp._fast.run()'
    const expected = ['2 _fast: unknown', '2 data: unknown', '2 paraffin: missing', '3 lamp._fast: unknown']
    expect(check(files, code).slice(0, 4)).toEqual(expected)
  })

  test('imports and attributes of modules are looked up, also through other modules', () => {
    const code = `import lamp
from lamp import Lamp, Lampe
from lamp.oil import fil
import gone
import os
lamp.oil.fill(1)
lamp.lihgt()
os.anything
gone.x`
    expect(check(LAMP, code)).toEqual([
      ...['2 Lampe: missing, Lamp', '3 fil: missing, fill', '4 gone: unknown', '7 lamp.lihgt: missing, light'],
      '9 gone.x: unknown',
    ])
  })

  test('attributes of instances, results and context managers are looked up, with those of base classes', () => {
    const code = `from lamp import Lamp, light
lamp = Lamp(60)
lamp.dim(1).dimm(2)
lamp.close(); lamp.closed; lamp.name; lamp.color; lamp.__class__
light().next.colour
with Lamp(1) as other:
    other.cloze()
def f(lamp): lamp.anything`
    expect(check(LAMP, code)).toEqual([
      ...['3 lamp.dim(1).dimm: missing, dim', '5 light().next.colour: missing, color', '7 other.cloze: missing, close'],
    ])
  })

  test('keyword arguments and numbers of arguments are looked up, unless the function takes all', () => {
    const code = `from lamp import Lamp, light, oil
Lamp(1, nam="a")
Lamp()
Lamp(1, "a", 3)
Lamp.create(anything=1)
light(1, 2, 3)
oil.fill(1, "olive")
oil.fill(*args, **more)`
    expect(check(LAMP, code)).toEqual([
      ...['2 nam: missing, name', '3 Lamp(): missing', '4 Lamp(): missing', '7 oil.fill(): missing'],
    ])
  })

  test('what modules and classes create while they run is never missing', () => {
    const files = {
      'lamp/__init__.py': `
from other import *
class Open:
    def __getattr__(self, name): ...
class Meta(metaclass=M): ...
class Child(Unknown): ...
@register
class Registered: ...
@wrap
def wrapped(a): ...
if x:
    def either(a): ...
else:
    either = None
`,
    }
    const code = `import lamp
lamp.x; lamp.Open().x; lamp.Meta().x; lamp.Child().x; lamp.Registered().x
lamp.wrapped(1, 2, 3); lamp.either(1, 2)
x = lamp.Open()
x = 1
x.y`
    expect(check(files, code).filter((line) => line.includes('missing'))).toEqual([])
  })

  test('a module that creates names from texts lacks all other names', () => {
    const files = {
      'lamp/__init__.py': `
def __getattr__(name):
    """Old names."""
    if name == "Candle" or name in ("Torch", "Wick"):
        return 1
    raise AttributeError(f"no {name}")
`,
      'lamp/lazy.py':
        'def __getattr__(name):\n    if name in TABLE: return TABLE[name]\n    raise AttributeError(name)\n',
      'lamp/hook.py': 'import sys\nsys.meta_path.append(Importer())\n',
      'lamp/table.py': `
import sys
class Importer:
    def find_spec(self, name, path, target=None):
        if name in self.known:
            return 1
importer.add("moves.oil")
sys.meta_path.append(importer)
`,
    }
    const code = `from lamp import Candle, Torch, Candel
from lamp.lazy import any_name
from lamp.hook import other_name
from lamp.table import oil, oill`
    expect(check(files, code)).toEqual([
      ...['1 Candle: unknown', '1 Torch: unknown', '1 Candel: missing', '2 any_name: unknown'],
      ...['3 other_name: unknown', '4 oil: unknown', '4 oill: missing'],
    ])
  })

  test('cyclic imports and classes end', () => {
    const files = {
      'lamp/__init__.py': 'from .a import *\nfrom .a import b as c\nclass A(A): ...\n',
      'lamp/a.py': 'from . import *\nfrom . import c as b\n',
    }
    expect(check(files, 'import lamp\nlamp.c.d\nlamp.A().x\nlamp.none\n').length).toBeLessThan(4)
  })
})
