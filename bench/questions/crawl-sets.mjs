// Crawls the documentation sets of the questions into one library, from Debian packages served on loopback.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { pharos } from '../mcp-client.mjs'

/** Debian package of each set, location of its pages, start of the crawl and path filters. */
const SETS = {
  apache2: { package: 'apache2-doc', root: '/usr/share/doc/apache2-doc/manual/en' },
  celery: {
    package: 'python-celery-doc',
    root: '/usr/share/doc/python-celery-doc/html',
    block: ['/celery/_modules/**', '/celery/_sources/**'],
  },
  cmake: { package: 'cmake-doc', root: '/usr/share/doc/cmake-data/html', block: ['/cmake/_sources/**'] },
  django: {
    package: 'python-django-doc',
    root: '/usr/share/doc/python-django-doc/html',
    block: ['/django/_modules/**', '/django/_sources/**'],
  },
  exim: { package: 'exim4-doc-html', root: '/usr/share/doc/exim4-doc-html/spec_html' },
  git: {
    package: 'git-doc',
    root: '/usr/share/doc/git-doc',
    start: 'git.html',
    block: ['/git/*.txt', '/git/RelNotes/**'],
  },
  glib: {
    package: 'libglib2.0-doc',
    root: '/usr/share/gtk-doc/html',
    start: 'glib/',
    seeds: ['gio/', 'gobject/'],
    allow: ['**'],
  },
  handbook: { package: 'debian-handbook', root: '/usr/share/doc/debian-handbook/html/en-US' },
  octave: { package: 'octave-doc', root: '/usr/share/doc/octave/octave.html' },
  postfix: { package: 'postfix-doc', root: '/usr/share/doc/postfix/html' },
  postgresql: { package: 'postgresql-doc-15', root: '/usr/share/doc/postgresql-doc-15/html' },
  python: { package: 'python3.11-doc', root: '/usr/share/doc/python3.11-dev/html' },
  rust: {
    package: 'rust-doc',
    root: '/usr/share/doc/rust-doc/html',
    start: 'book/index.html',
    seeds: ['reference', 'rust-by-example', 'nomicon', 'rustc', 'rustdoc', 'edition-guide', 'embedded-book', 'std'].map(
      (book) => `${book}/index.html`,
    ),
    allow: [
      'book/*',
      'reference/**',
      'rust-by-example/**',
      'nomicon/**',
      'rustc/**',
      'rustdoc/**',
      'edition-guide/**',
      'embedded-book/**',
      'std/**',
    ],
  },
  scrapy: {
    package: 'python-scrapy-doc',
    root: '/usr/share/doc/python-scrapy-doc/html',
    block: ['/scrapy/_modules/**', '/scrapy/_sources/**'],
  },
  sphinx: {
    package: 'sphinx-doc',
    root: '/usr/share/doc/sphinx-doc/html',
    block: ['/sphinx/_modules/**', '/sphinx/_sources/**'],
  },
  sqlalchemy: {
    package: 'python-sqlalchemy-doc',
    root: '/usr/share/doc/python-sqlalchemy-doc/html',
    block: ['/sqlalchemy/_modules/**', '/sqlalchemy/_sources/**'],
  },
  sqlite: { package: 'sqlite3-doc', root: '/usr/share/doc/sqlite3' },
}

const TYPES = { '.html': 'text/html; charset=utf-8', '.txt': 'text/plain; charset=utf-8' }

/** Crawls all installed sets, and reports the missing ones. */
export async function crawlSets(library) {
  const server = createServer(async (request, response) => {
    try {
      const [, set, ...rest] = decodeURIComponent(new URL(request.url, 'http://localhost').pathname).split('/')
      const { root } = SETS[set]
      const path = normalize(join(root, ...rest))
      const file = path.startsWith(root) && (await stat(path)).isDirectory() ? join(path, 'index.html') : path
      if (!file.startsWith(root)) throw new Error('outside of the set')
      const body = await readFile(file)
      response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' }).end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${server.address().port}`
  for (const [name, set] of Object.entries(SETS)) {
    const { package: packageName, root, start = '', seeds = [], allow = [], block = [] } = set
    if (!existsSync(root)) {
      console.error(`bench: ${name} is left out: install ${packageName}`)
      continue
    }
    const args = [
      'add',
      `${origin}/${name}/${start}`,
      '--name',
      name,
      '--library',
      library,
      '--allow-private',
      '--quiet',
      '--no-embed',
    ]
    if (allow.length > 0) args.push('--scope', 'hostname')
    for (const path of allow) args.push('--allow', `/${name}/${path}`)
    for (const path of block) args.push('--block', path)
    for (const path of seeds) args.push('--seed', `${origin}/${name}/${path}`)
    await run(args)
  }
  server.close()
}

async function run(args) {
  const child = spawn(pharos, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error(`pharos ${args.join(' ')} ended with ${code}`)
}
