import { describe, expect, test } from 'vitest'
import { parseTreeUrl } from './parse-tree-url.ts'
import { readPastedAddress } from './pasted-address.ts'

/** Pasted addresses, and what they become: the address, and for repositories `@ref` and `:folder`. */
const REPOSITORIES: readonly (readonly [string, string])[] = [
  ['https://github.com/honojs/hono', 'github.com/honojs/hono'],
  ['https://github.com/honojs/hono/', 'github.com/honojs/hono'],
  ['https://github.com/honojs/hono.git', 'github.com/honojs/hono'],
  ['http://github.com/honojs/hono', 'github.com/honojs/hono'],
  ['https://www.github.com/honojs/hono', 'github.com/honojs/hono'],
  ['github.com/honojs/hono', 'github.com/honojs/hono'],
  ['www.github.com/honojs/hono/', 'github.com/honojs/hono'],
  ['https://github.com/honojs/hono#readme', 'github.com/honojs/hono'],
  ['https://github.com/honojs/hono?tab=readme-ov-file#quick-start', 'github.com/honojs/hono'],
  ['https://github.com/vercel/next.js', 'github.com/vercel/next.js'],
  ['https://github.com/mrdoob/three.js/', 'github.com/mrdoob/three.js'],
  ['https://github.com/honojs/website/tree/main/docs', 'github.com/honojs/website@main:docs'],
  ['https://github.com/honojs/website/tree/main', 'github.com/honojs/website@main'],
  ['https://github.com/vuejs/docs/tree/main/src/guide/', 'github.com/vuejs/docs@main:src/guide'],
  ['https://github.com/colinhacks/zod/tree/v3.23.8/README.md', 'github.com/colinhacks/zod@v3.23.8:README.md'],
  ['https://github.com/nodejs/node/blob/v22.9.0/doc/api/fs.md', 'github.com/nodejs/node@v22.9.0:doc/api'],
  ['https://github.com/nodejs/node/blob/main/README.md', 'github.com/nodejs/node@main'],
  ['https://github.com/nodejs/node/blob/main/doc/api/fs.md#L10-L20', 'github.com/nodejs/node@main:doc/api'],
  ['github.com/nodejs/node/tree/main/doc%20s', 'github.com/nodejs/node@main:doc s'],
  [
    'https://github.com/o/n/tree/0123456789abcdef0123456789abcdef01234567/docs',
    'github.com/o/n@0123456789abcdef0123456789abcdef01234567:docs',
  ],
  ['https://gitlab.com/gitlab-org/gitlab', 'gitlab.com/gitlab-org/gitlab'],
  ['https://gitlab.com/gitlab-org/cli/-/tree/main/docs', 'gitlab.com/gitlab-org/cli@main:docs'],
  ['https://gitlab.com/group/sub/project', 'gitlab.com/group/sub/project'],
  ['https://gitlab.com/group/sub/project/-/blob/v1/docs/a.md', 'gitlab.com/group/sub/project@v1:docs'],
  ['gitlab.com/group/project.git', 'gitlab.com/group/project'],
  ['https://codeberg.org/forgejo/forgejo', 'codeberg.org/forgejo/forgejo'],
  ['https://codeberg.org/forgejo/docs/src/branch/next/docs', 'codeberg.org/forgejo/docs@next:docs'],
  ['https://codeberg.org/forgejo/docs/src/tag/v1.0/docs/admin.md', 'codeberg.org/forgejo/docs@v1.0:docs'],
  ['https://codeberg.org/forgejo/docs/src/commit/0123abc/docs', 'codeberg.org/forgejo/docs@0123abc:docs'],
  ['https://bitbucket.org/owner/name', 'bitbucket.org/owner/name'],
  ['https://bitbucket.org/owner/name/src/main/docs/', 'bitbucket.org/owner/name@main:docs'],
  ['honojs/hono', 'github.com/honojs/hono'],
  ['vercel/next.js', 'github.com/vercel/next.js'],
  [' honojs/hono ', 'github.com/honojs/hono'],
  ['honojs/hono.git', 'github.com/honojs/hono'],
  ['https://github.com/honojs/hono/releases/tag/v4.6.0', 'github.com/honojs/hono@v4.6.0'],
  ['https://github.com/remix-run/remix/releases/tag/release%2F2.1', 'github.com/remix-run/remix@release/2.1'],
  ['https://codeberg.org/forgejo/forgejo/releases/tag/v9.0.0', 'codeberg.org/forgejo/forgejo@v9.0.0'],
  ['https://www.gitlab.com/gitlab-org/cli', 'gitlab.com/gitlab-org/cli'],
  ['https://gitlab.com/gitlab-org/api/client-go/-/tree/main', 'gitlab.com/gitlab-org/api/client-go@main'],
  ['https://gitlab.com/a/b/c/d.git', 'gitlab.com/a/b/c/d'],
  ['https://gist.github.com/octo/6cad326836d38bd3a7ae', 'gist.github.com/octo/6cad326836d38bd3a7ae'],
  ['gist.github.com/octo/6cad326836d38bd3a7ae#file-notes-md', 'gist.github.com/octo/6cad326836d38bd3a7ae'],
  ['<https://github.com/honojs/hono>', 'github.com/honojs/hono'],
  ['[Hono](https://github.com/honojs/hono)', 'github.com/honojs/hono'],
  ['[docs](https://github.com/honojs/website/tree/main/docs "The docs").', 'github.com/honojs/website@main:docs'],
  ['https://github.com/honojs/hono.', 'github.com/honojs/hono'],
  ['https://github.com/honojs/hono).', 'github.com/honojs/hono'],
  ['“https://github.com/honojs/hono”,', 'github.com/honojs/hono'],
  ['`honojs/hono`', 'github.com/honojs/hono'],
]

const PACKAGES: readonly (readonly [string, string])[] = [
  ['https://www.npmjs.com/package/react', 'npm:react'],
  ['https://www.npmjs.com/package/react/v/18.2.0', 'npm:react@18.2.0'],
  ['https://www.npmjs.com/package/@hono/node-server', 'npm:@hono/node-server'],
  ['https://www.npmjs.com/package/@hono/node-server/v/1.0.0', 'npm:@hono/node-server@1.0.0'],
  ['https://www.npmjs.com/package/react?activeTab=versions', 'npm:react'],
  ['npmjs.com/package/left-pad', 'npm:left-pad'],
  ['https://npmjs.com/package/%40types/node', 'npm:@types/node'],
  ['https://www.npmjs.com/package/lodash.merge', 'npm:lodash.merge'],
  ['https://pypi.org/project/requests/', 'pypi:requests'],
  ['https://pypi.org/project/requests', 'pypi:requests'],
  ['https://pypi.org/project/requests/2.31.0/', 'pypi:requests@2.31.0'],
  ['pypi.org/project/ruamel.yaml/', 'pypi:ruamel.yaml'],
  ['https://pypi.org/project/Django/#files', 'pypi:Django'],
  ['https://crates.io/crates/serde', 'crates:serde'],
  ['https://crates.io/crates/serde/1.0.200', 'crates:serde@1.0.200'],
  ['crates.io/crates/tokio/1.38.0/dependencies', 'crates:tokio@1.38.0'],
  ['https://docs.rs/serde', 'crates:serde'],
  ['https://docs.rs/serde/latest/serde/', 'crates:serde'],
  ['https://docs.rs/serde/1.0.200/serde/trait.Serialize.html', 'crates:serde@1.0.200'],
  ['https://docs.rs/crate/serde/1.0.200', 'crates:serde@1.0.200'],
  ['docs.rs/tokio', 'crates:tokio'],
  ['https://central.sonatype.com/artifact/com.google.guava/guava', 'maven:com.google.guava:guava'],
  [
    'https://central.sonatype.com/artifact/com.google.guava/guava/33.2.1-jre',
    'maven:com.google.guava:guava@33.2.1-jre',
  ],
  ['https://crates.io/crates/serde/versions', 'crates:serde'],
  ['https://docs.rs/tokio/~1/tokio/', 'crates:tokio'],
  ['https://central.sonatype.com/artifact/com.google.guava/guava/overview', 'maven:com.google.guava:guava'],
  ['https://mvnrepository.com/artifact/org.slf4j/slf4j-api/2.0.13', 'maven:org.slf4j:slf4j-api@2.0.13'],
  ['https://www.npmjs.com/package/@babel/core/v/8.0.0-beta.1', 'npm:@babel/core@8.0.0-beta.1'],
  ['https://www.npmjs.com/package/react#readme', 'npm:react'],
  ['https://pypi.org/p/requests/', 'pypi:requests'],
  ['www.pypi.org/project/requests/2.31.0/#history', 'pypi:requests@2.31.0'],
  ['https://pypi.org/project/torch/2.4.0+cpu/', 'pypi:torch@2.4.0+cpu'],
  ['https://docs.rs/tokio/latest/tokio/runtime/struct.Runtime.html#method.block_on', 'crates:tokio'],
  ['https://docs.rs/crate/serde/latest/source/', 'crates:serde'],
  ['https://lib.rs/crates/serde', 'crates:serde'],
  ['<https://www.npmjs.com/package/react>', 'npm:react'],
  ['(https://pypi.org/project/requests/)', 'pypi:requests'],
  ['[serde](https://crates.io/crates/serde),', 'crates:serde'],
  ['npm install react', 'npm:react'],
  ['npm i -D @types/node@22', 'npm:@types/node@22'],
  ['$ pnpm add hono --save-exact', 'npm:hono'],
  ['yarn add left-pad', 'npm:left-pad'],
  ['pip install requests==2.31.0', 'pypi:requests@2.31.0'],
  ['python -m pip install -U flask', 'pypi:flask'],
  ['uv add httpx', 'pypi:httpx'],
  ['cargo add serde', 'crates:serde'],
]

const UNCHANGED: readonly (readonly [string, string])[] = [
  ['https://docs.python.org/3/', 'https://docs.python.org/3/'],
  ['docs.python.org', 'https://docs.python.org'],
  ['localhost:3000', 'http://localhost:3000'],
  ['127.0.0.1:8080/docs/', 'http://127.0.0.1:8080/docs/'],
  ['https://honojs.github.io/hono/', 'https://honojs.github.io/hono/'],
  ['https://docs.github.com/en/rest', 'https://docs.github.com/en/rest'],
  ['https://docs.gitlab.com/ee/', 'https://docs.gitlab.com/ee/'],
  ['https://docs.npmjs.com/cli', 'https://docs.npmjs.com/cli'],
  ['https://docs.pypi.org/', 'https://docs.pypi.org/'],
  ['https://doc.rust-lang.org/std/', 'https://doc.rust-lang.org/std/'],
  ['https://docs.rs/about', 'https://docs.rs/about'],
  ['https://github.com/o/n/archive/refs/heads/main.zip', 'https://github.com/o/n/archive/refs/heads/main.zip'],
  ['npm:react@18', 'npm:react@18'],
  ['git@github.com:owner/name.git', 'git@github.com:owner/name.git'],
  ['git+https://example.com/a', 'git+https://example.com/a'],
  ['ssh://git@github.com/o/n.git', 'ssh://git@github.com/o/n.git'],
  ['https://user:secret@github.com/o/n', 'https://user:secret@github.com/o/n'],
  ['https://example.com/owner/name', 'https://example.com/owner/name'],
  [
    'https://github.com/o/n/releases/download/v1/docs.tar.zst',
    'https://github.com/o/n/releases/download/v1/docs.tar.zst',
  ],
  ['https://github.com/o/n/raw/main/manual.pdf', 'https://github.com/o/n/raw/main/manual.pdf'],
  ['https://github.com:8443/o/n', 'https://github.com:8443/o/n'],
  ['https://docs.rs/std', 'https://docs.rs/std'],
  ['docs/readme.md', 'docs/readme.md'],
  ['docs/..', 'docs/..'],
  ['https://example.com/a.tar.gz', 'https://example.com/a.tar.gz'],
  ['guide', 'guide'],
  ['a/b/c', 'a/b/c'],
  ['-o/name', '-o/name'],
  ['https://honojs.github.io', 'https://honojs.github.io'],
  ['owner.github.io/name', 'https://owner.github.io/name'],
  ['https://group.gitlab.io/project/', 'https://group.gitlab.io/project/'],
  ['https://owner.codeberg.page/docs/', 'https://owner.codeberg.page/docs/'],
  ['https://raw.githubusercontent.com/o/n/main/docs/a.md', 'https://raw.githubusercontent.com/o/n/main/docs/a.md'],
  ['https://gist.githubusercontent.com/o/0a/raw/notes.md', 'https://gist.githubusercontent.com/o/0a/raw/notes.md'],
  ['https://en.m.wikipedia.org/wiki/Pharos', 'https://en.m.wikipedia.org/wiki/Pharos'],
  ['m.example.com/docs', 'https://m.example.com/docs'],
  ['www.example.com', 'https://www.example.com'],
  ['localhost', 'http://localhost'],
  ['http://localhost:3000/docs/', 'http://localhost:3000/docs/'],
  ['[::1]:3000', 'http://[::1]:3000'],
  ['docs.example.com:8443/guide', 'https://docs.example.com:8443/guide'],
  ['<https://docs.python.org/3/>', 'https://docs.python.org/3/'],
  ['<docs.python.org>', 'https://docs.python.org'],
  ['https://docs.python.org/3/.', 'https://docs.python.org/3/'],
  ['https://docs.python.org/3/),', 'https://docs.python.org/3/'],
  ['https://docs.python.org/3/**', 'https://docs.python.org/3/'],
  ['"https://docs.python.org/3/"', 'https://docs.python.org/3/'],
  ['[the docs](https://docs.python.org/3/)', 'https://docs.python.org/3/'],
  ['https://en.wikipedia.org/wiki/Pharos_(lighthouse)', 'https://en.wikipedia.org/wiki/Pharos_(lighthouse)'],
  ['(https://en.wikipedia.org/wiki/Pharos_(lighthouse)).', 'https://en.wikipedia.org/wiki/Pharos_(lighthouse)'],
  ['[a](https://en.wikipedia.org/wiki/A_(b))', 'https://en.wikipedia.org/wiki/A_(b)'],
  ['git@github.com:owner/name', 'git@github.com:owner/name'],
  ['npm install', 'npm install'],
  ['npm install react react-dom', 'npm install react react-dom'],
  ['npm run build', 'npm run build'],
  ['git@gitlab.com:group/sub/project.git', 'git@gitlab.com:group/sub/project.git'],
]

const CODE_HOST_PAGES: readonly string[] = [
  'https://github.com/honojs',
  'https://github.com/',
  'https://github.com/honojs/hono/wiki',
  'https://github.com/honojs/hono/issues/12',
  'https://github.com/honojs/hono/releases',
  'https://github.com/search?q=docs',
  'https://github.com/topics/crawler',
  'https://gitlab.com/explore/projects',
  'https://codeberg.org/explore/repos',
  'https://github.com/solutions/ci-cd',
  'https://gitlab.com/g/p/wikis/home',
  'https://gitlab.com/g/p/-/merge_requests/3',
  'https://codeberg.org/o/n/pulls',
  'https://gist.github.com/octo',
  'https://gist.github.com/discover',
  '<https://github.com/honojs>',
]

test('there are at least 80 of them', () => {
  expect([...REPOSITORIES, ...PACKAGES, ...UNCHANGED, ...CODE_HOST_PAGES].length).toBeGreaterThanOrEqual(80)
})

describe('a repository', () => {
  test.each(REPOSITORIES)('%s is %s', (text, expected) => {
    const { url, ref, path, meaning } = readPastedAddress(text)
    const [repository = ''] = expected.split(/[@:]/)
    expect(url).toBe(`git+https://${repository}.git`)
    expect(parseTreeUrl(url)).toBe(url)
    expect(`${repository}${ref === undefined ? '' : `@${ref}`}${path === undefined ? '' : `:${path}`}`).toBe(expected)
    expect(meaning).toContain(`repository ${repository}`)
  })
})

describe('a package', () => {
  test.each(PACKAGES)('%s is %s', (text, expected) => {
    expect(readPastedAddress(text)).toEqual({ url: expected, meaning: `package ${expected}` })
    expect(parseTreeUrl(expected)).toMatch(/^pkg:/)
  })
})

describe('anything else', () => {
  test.each(UNCHANGED)('%s stays %s', (text, expected) => {
    expect(readPastedAddress(text)).toEqual({ url: expected })
  })
})

describe('a page of a code host that names no repository', () => {
  test.each(CODE_HOST_PAGES)('%s', (text) => {
    expect(readPastedAddress(text)).toMatchObject({ isCodeHostPage: true })
  })
})
