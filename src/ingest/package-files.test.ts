import { expect, test } from 'vitest'
import { findSkippedFolder, judgePackageFile } from './package-files.ts'
import type { PackageKind } from './registry/package-archive.ts'

const OTHER = 'neither documentation nor an interface'
const INTERNAL = 'not for readers'

test.each<[PackageKind, string, string | null]>([
  ['npm', 'README.md', null],
  ['npm', 'readme', null],
  ['npm', 'dist/index.d.ts', null],
  ['npm', 'dist/index.d.mts', null],
  ['npm', 'docs/guide.mdx', null],
  ['npm', 'CHANGELOG.md', null],
  ['npm', 'dist/index.js', OTHER],
  ['npm', 'dist/index.min.js', 'minified or bundled code'],
  ['npm', 'dist/index.test-d.d.ts', INTERNAL],
  ['npm', 'LICENSE.md', INTERNAL],
  ['npm', 'package.json', OTHER],
  ['npm', '.eslintrc.md', INTERNAL],
  ['sdist', 'src/pkg/core.py', null],
  ['sdist', 'src/pkg/core.pyi', null],
  ['sdist', 'django/test/client.py', null],
  ['sdist', 'docs/index.rst', null],
  ['sdist', 'docs/notes.txt', null],
  ['sdist', 'PKG-INFO', OTHER],
  ['sdist', 'pkg.egg-info/SOURCES.txt', OTHER],
  ['sdist', 'setup.py', INTERNAL],
  ['sdist', 'pkg/test_core.py', INTERNAL],
  ['wheel', 'pkg/_native.so', OTHER],
  ['wheel', 'pkg-1.0.dist-info/METADATA', null],
  ['wheel', 'pkg-1.0.dist-info/RECORD', OTHER],
  ['crate', 'src/lib.rs', null],
  ['crate', 'examples/hello.rs', null],
  ['crate', 'build.rs', OTHER],
  ['crate', 'Cargo.toml', OTHER],
  ['sources', 'org/slf4j/Logger.java', null],
  ['sources', 'module-info.java', INTERNAL],
  ['javadoc', 'org/slf4j/Logger.html', null],
  ['javadoc', 'org/slf4j/package-summary.html', null],
  ['javadoc', 'org/slf4j/package-tree.html', 'lists of links'],
  ['javadoc', 'index-all.html', 'lists of links'],
  ['javadoc', 'allclasses-index.html', 'lists of links'],
  ['javadoc', 'script.js', OTHER],
])('for a package of kind %s, the exclusion reason of %s is %j', (kind, path, pattern) => {
  expect(findSkippedFolder(kind, path)).toBeUndefined()
  expect(judgePackageFile(kind, path)?.pattern ?? null).toBe(pattern)
})

test.each<[PackageKind, string, string, string]>([
  ['npm', 'lib/node_modules/x/index.d.ts', 'lib/node_modules/', 'code of others'],
  ['npm', 'test/a.d.ts', 'test/', 'tests'],
  ['npm', '.github/README.md', '.github/', INTERNAL],
  ['sdist', 'pkg/tests/test_a.py', 'pkg/tests/', 'tests'],
  ['sdist', 'test/a.py', 'test/', 'tests'],
  ['sdist', 'pip/_vendor/rich/x.py', 'pip/_vendor/', 'code of others'],
  ['crate', 'benches/x.rs', 'benches/', 'benchmarks'],
  ['sources', 'META-INF/MANIFEST.MF', 'META-INF/', INTERNAL],
  ['javadoc', 'org/class-use/Logger.html', 'org/class-use/', INTERNAL],
])('for a package of kind %s, %s is skipped with the whole folder %s', (kind, path, folder, pattern) => {
  expect(findSkippedFolder(kind, path)).toMatchObject({ folder, refusal: { reason: 'excluded', pattern } })
})
