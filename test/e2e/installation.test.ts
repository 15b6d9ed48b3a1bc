import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PROGRAM, ProgramSandbox } from './program.ts'
import { startServer } from './server.ts'

let sandbox: ProgramSandbox

beforeEach(() => {
  sandbox = new ProgramSandbox()
})

afterEach(() => sandbox.remove())

describe('messages of a checkout', () => {
  const root = dirname(dirname(dirname(PROGRAM)))
  /** The command that a message suggests, if a folder of the PATH has this link. */
  const suggested = async (target: string) => {
    fs.mkdirSync(sandbox.path('bin'), { recursive: true })
    fs.rmSync(sandbox.path('bin/pharos'), { force: true })
    fs.symlinkSync(target, sandbox.path('bin/pharos'))
    // The launcher passes this option.
    const args = ['--heap-growing-percent=50', PROGRAM, 'list', '--library', sandbox.path('library.db')]
    const { ended } = sandbox.start(process.execPath, args, { PATH: `relative:${sandbox.path('bin')}:/usr/bin` })
    const { stdout, stderr } = await ended
    return /add one: (.+) add <url>/.exec(stdout + stderr)?.[1]
  }

  test('name the program `pharos` if a link to the launcher is on the PATH, else by its path', async () => {
    expect(await suggested(join(root, 'pharos'))).toBe('pharos')
    for (const target of ['/bin/true', '/nowhere']) expect(await suggested(target)).toBe(join(root, 'pharos'))
  })
})

describe('config', () => {
  test('lists every setting with its origin, without secrets', async () => {
    sandbox.write({ 'pharos.config.json': '{"concurrency": 3, "embedKey": "s3cret-key"}' })
    const { code, stdout } = await sandbox.runInProcess(['config', 'list', '--library', 'here.db'], {
      PHAROS_HOSTS: '7',
      PHAROS_PROXY: 'http://me:s3cret@proxy.example:1',
    })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^concurrency = 3 {2}file$/m)
    expect(stdout).toMatch(/^hosts = 7 {2}environment$/m)
    expect(stdout).toMatch(/^library = .*here\.db {2}flag$/m)
    expect(stdout).toMatch(/^maxPages|^maxAge = .* {2}default$/m)
    expect(stdout).toMatch(/^embedKey = … {2}file$/m)
    expect(stdout).not.toContain('s3cret')
  })

  test('prints colors in a pipe with FORCE_COLOR, and none with --no-color', async () => {
    const { stdout } = await sandbox.run(['config', 'list'], { FORCE_COLOR: '1' })
    expect(stdout).toContain('concurrency = 16  \x1b[2mdefault\x1b[22m')
    const plain = await sandbox.run(['config', 'list', '--no-color'], { FORCE_COLOR: '1' })
    expect(plain.stdout + plain.stderr).not.toContain('\x1b')
    const failed = await sandbox.run(['config', 'get', 'x', '--no-color'], { FORCE_COLOR: '1' })
    expect([failed.code, failed.stderr.includes('\x1b')]).toEqual([2, false])
  })

  test('gets one setting, and names the nearest for a misspelled one', async () => {
    sandbox.write({ 'pharos.config.json': '{"maxPageBytes": "1MB"}' })
    const { stdout, stderr } = await sandbox.runInProcess(['config', 'get', 'maxPageBytes'])
    expect(stdout).toBe('1048576\n')
    expect(stderr).toContain(`origin: file ${sandbox.path('pharos.config.json')}`)
    const json = await sandbox.runInProcess(['config', 'get', 'maxPageBytes', '--json'])
    expect(JSON.parse(json.stdout)).toEqual({ name: 'maxPageBytes', value: 2 ** 20, origin: 'file' })
    const unknown = await sandbox.runInProcess(['config', 'get', 'maxPageByte'])
    expect(unknown.code).toBe(2)
    expect(unknown.stderr).toContain('there is no setting "maxPageByte", did you mean maxPageBytes?')
  })

  test('sets a value and keeps order, indentation and everything else of the file', async () => {
    const before = '{\n\t"$schema": "x",\n\t"concurrency": 3,\n\t"embed": { "model": "a" },\n\t"hosts": 5\n}\n'
    sandbox.write({ 'pharos.config.json': before })
    const set = (name: string, value: string) => sandbox.runInProcess(['config', 'set', name, value])
    expect(await set('concurrency', '4')).toMatchObject({ code: 0, stderr: '' })
    expect((await set('embedModel', 'b')).code).toBe(0)
    expect((await set('allowPrivate', 'localhost,10.0.0.0/8')).code).toBe(0)
    expect((await set('cache', 'false')).code).toBe(0)
    expect((await set('siteHeaders', '{"docs.example.com": {"Cookie": "DOCS_COOKIE"}}')).code).toBe(0)
    const after = fs.readFileSync(sandbox.path('pharos.config.json'), 'utf8')
    expect(
      after.startsWith('{\n\t"$schema": "x",\n\t"concurrency": 4,\n\t"embed": { "model": "b" },\n\t"hosts": 5,\n'),
    ).toBe(true)
    expect(JSON.parse(after)).toEqual({
      $schema: 'x',
      concurrency: 4,
      embed: { model: 'b' },
      hosts: 5,
      allowPrivate: ['localhost', '10.0.0.0/8'],
      cache: false,
      siteHeaders: { 'docs.example.com': { Cookie: 'DOCS_COOKIE' } },
    })
  })

  test('creates the file, and says when a variable is stronger', async () => {
    const { code, stdout, stderr } = await sandbox.runInProcess(['config', 'set', 'hosts', '5'], { PHAROS_HOSTS: '7' })
    expect(code).toBe(0)
    expect(stdout).toContain('hosts = 7  environment')
    expect(stderr).toContain('PHAROS_HOSTS sets another value')
    expect(fs.readFileSync(sandbox.path('pharos.config.json'), 'utf8')).toBe('{\n  "hosts": 5\n}\n')
    expect(fs.statSync(sandbox.path('pharos.config.json')).mode & 0o777).toBe(0o600)
  })

  test('writes through a symbolic link, and refuses a broken one', async () => {
    sandbox.write({ 'dotfiles/pharos.json': '{"hosts": 5}' })
    fs.chmodSync(sandbox.path('dotfiles/pharos.json'), 0o640)
    fs.symlinkSync('dotfiles/pharos.json', sandbox.path('pharos.config.json'))
    expect((await sandbox.runInProcess(['config', 'set', 'hosts', '6'])).code).toBe(0)
    expect(fs.lstatSync(sandbox.path('pharos.config.json')).isSymbolicLink()).toBe(true)
    expect(JSON.parse(fs.readFileSync(sandbox.path('dotfiles/pharos.json'), 'utf8'))).toEqual({ hosts: 6 })
    expect(fs.statSync(sandbox.path('dotfiles/pharos.json')).mode & 0o777).toBe(0o640)

    fs.symlinkSync('missing.json', sandbox.path('broken.json'))
    const broken = await sandbox.runInProcess(['config', 'set', 'hosts', '6', '--config', 'broken.json'])
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('it is a link to a missing file')])
    expect(fs.lstatSync(sandbox.path('broken.json')).isSymbolicLink()).toBe(true)
  })

  test.each([
    [['set', 'concurrency', 'many'], 'expected a whole number from 1 to 256, got "many"'],
    [['set', 'concurrency', '0'], 'expected a whole number'],
    [['set', 'embedder', 'other'], 'expected one of built-in, tei, openai'],
    [['set', 'siteHeaders', '{"docs.example.com": {"Cookie": "session=s3cret"}}'], 'expected hosts with headers'],
    [['set', 'embed', 'false'], '"embed" is a group of settings there'],
    [['set', 'nonsense', '1'], 'there is no setting "nonsense"'],
    [['set', 'hosts'], 'expected the name of a setting and its value'],
    [['get'], 'expected the name of a setting'],
    [['list', 'hosts'], 'expected no setting'],
  ])('%j is refused, and the file stays as it was', async (args, problem) => {
    const before = '{"embed": {"model": "a"}, "hosts": 5}'
    sandbox.write({ 'pharos.config.json': before })
    const { code, stderr } = await sandbox.runInProcess(['config', ...args])
    expect(code).toBe(2)
    expect(stderr).toContain(problem)
    expect(stderr).not.toContain('s3cret')
    expect(fs.readFileSync(sandbox.path('pharos.config.json'), 'utf8')).toBe(before)
  })
})

describe('open', () => {
  /** A program that writes down how it was called. */
  const useBrowser = () => {
    const file = sandbox.path('browser')
    sandbox.write({ browser: `#!/bin/sh\nprintf '%s\\n' "$@" > '${sandbox.path('opened')}'\n` })
    fs.chmodSync(file, 0o755)
    return { BROWSER: `${file}:other` }
  }
  const opened = () => fs.readFileSync(sandbox.path('opened'), 'utf8').trim()

  test('opens hits of the last search and sources as file paths, without a shell', async () => {
    const environment = useBrowser()
    const folder = "docs $(touch evil) 'x'"
    sandbox.write({
      [`${folder}/lamp.md`]: '# Lamp\n\nThe lamp is lit at dusk.\n',
      [`${folder}/b.md`]: '# B\n\nA wick.\n',
    })
    expect((await sandbox.runInProcess(['open'], environment)).stderr).toContain('no search is remembered')
    expect((await sandbox.runInProcess(['add', folder, '--name', 'docs'])).code).toBe(0)
    expect((await sandbox.runInProcess(['search', 'lamp lit at dusk'])).code).toBe(0)
    const first = await sandbox.runInProcess(['open'], environment)
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(opened()).toBe(sandbox.path(`${folder}/lamp.md`))
    expect((await sandbox.runInProcess(['open', 'docs', '--json'], environment)).code).toBe(0)
    expect(opened().replace(/\/$/, '')).toBe(sandbox.path(folder))
    expect(fs.existsSync(sandbox.path('evil'))).toBe(false)

    // A program that searches does not change what a user opens.
    await sandbox.runInProcess(['search', 'wick', '--json'])
    await sandbox.runInProcess(['open', '1'], environment)
    expect(opened()).toBe(sandbox.path(`${folder}/lamp.md`))
    const missing = await sandbox.runInProcess(['open', '99'], environment)
    expect(missing.code).toBe(2)
    expect(missing.stderr).toContain('there is no hit 99')
    const unknown = await sandbox.runInProcess(['open', 'nonsense'], environment)
    expect(unknown.code).toBe(3)
    const stored = fs.statSync(sandbox.path('.local/state/pharos/last-search.json'))
    expect(stored.mode & 0o777).toBe(0o600)
  })

  test.each([
    ['javascript:alert(1)', 'neither a web page nor a file'],
    ['npm:react@18/README.md', 'neither a web page nor a file'],
    ['-h', 'neither a web page nor a file'],
    ['file://other/lamp.md', 'neither a web page nor a file'],
  ])('%s is not opened', async (address, problem) => {
    const environment = useBrowser()
    sandbox.write({ '.local/state/pharos/last-search.json': JSON.stringify({ hits: [{ url: address }] }) })
    const { code, stderr } = await sandbox.runInProcess(['open', '1'], environment)
    expect(code).toBe(3)
    expect(stderr).toContain(problem)
    expect(fs.existsSync(sandbox.path('opened'))).toBe(false)
  })

  test('a file of another machine is not opened, neither as a source nor as a hit', async () => {
    const environment = useBrowser()
    sandbox.write({ 'docs/lamp.md': '# Lamp\n\nThe lamp is lit at dusk.\n' })
    expect((await sandbox.runInProcess(['add', 'docs'])).code).toBe(0)
    const { default: Sqlite } = await import('better-sqlite3')
    const db = new Sqlite(sandbox.path('.local/share/pharos/library.db'))
    db.exec("UPDATE sources SET settings = json_set(settings, '$.machine', 'tower-2')")
    db.close()
    expect((await sandbox.runInProcess(['search', 'lamp'])).code).toBe(0)
    for (const what of ['docs', '1']) {
      const { code, stderr } = await sandbox.runInProcess(['open', what], environment)
      expect([code, stderr]).toEqual([3, expect.stringContaining('it is on the machine tower-2')])
    }
    expect(fs.existsSync(sandbox.path('opened'))).toBe(false)
  })

  test('a web address goes to the place that BROWSER marks, and a failing program is reported', async () => {
    const { BROWSER } = useBrowser()
    const hits = [{ url: 'https://docs.example.com/a?b=1&c=$(id)#d' }]
    sandbox.write({ '.local/state/pharos/last-search.json': JSON.stringify({ hits }) })
    const command = `${BROWSER.split(':')[0]} --new %s`
    expect((await sandbox.runInProcess(['open'], { BROWSER: command })).code).toBe(0)
    expect(opened()).toBe('--new\nhttps://docs.example.com/a?b=1&c=$(id)#d')
    const failed = await sandbox.runInProcess(['open'], { BROWSER: 'false' })
    expect(failed.code).toBe(3)
    expect(failed.stderr).toContain('false ended with 1')
    const missing = await sandbox.runInProcess(['open'], { BROWSER: '/nonsense/browser' })
    expect(missing.stderr).toContain('/nonsense/browser cannot be started')
  })
})

describe('uninstall', () => {
  const listFiles = () =>
    fs
      .readdirSync(sandbox.folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => fs.statSync(sandbox.path(name)).isFile())
      .sort()

  test('shows what it would remove with sizes, and removes nothing else with --yes', async () => {
    const cursor = '{\n  "mcpServers": {\n    "other": { "command": "other" } // mine\n  }\n}\n'
    sandbox.write({
      '.cursor/mcp.json': cursor,
      'docs/guide.md': '# Guide\n\nThe lamp is lit at dusk.\n',
      'pharos.config.json': '{}',
      '.local/share/pharos/mine.txt': 'mine',
      'cache/other/mine.txt': 'mine',
    })
    const before = listFiles()
    const noCodeCache = { NODE_COMPILE_CACHE: '' }
    expect((await sandbox.run(['setup', '--yes'], noCodeCache)).code).toBe(0)
    expect((await sandbox.run(['add', 'docs'], noCodeCache)).code).toBe(0)
    expect((await sandbox.run(['search', 'lamp'], noCodeCache)).code).toBe(0)
    expect((await sandbox.run(['pack', 'docs', '--out', 'docs.zip'], noCodeCache)).code).toBe(0)
    const used = listFiles()
    const shown = await sandbox.run(['uninstall'], noCodeCache)
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    expect(shown.stdout).toMatch(/^remove +library +\d+(?:\.\d+)? \w+ {2}.*library\.db$/m)
    expect(shown.stdout).toMatch(/^remove +cache +.*cache\/pharos\/folders$/m)
    expect(shown.stdout).toMatch(/^remove +state +.*last-search\.json$/m)
    expect(shown.stdout).toMatch(/^remove +agent +Cursor: .*mcp\.json$/m)
    expect(shown.stdout).toContain('nothing was removed')
    expect(listFiles()).toEqual(used)

    const removed = await sandbox.run(['uninstall', '--yes'], noCodeCache)
    expect(removed.code).toBe(0)
    expect(removed.stdout).toMatch(/^removed +library/m)
    expect(new Set(listFiles())).toEqual(new Set([...before, 'docs.zip']))
    expect(fs.readFileSync(sandbox.path('.cursor/mcp.json'), 'utf8')).toBe(cursor)
    expect((await sandbox.run(['uninstall'], noCodeCache)).stdout).toContain('left: your configuration')
  })

  test('suggests a command for the same library and configuration file', async () => {
    sandbox.write({ 'docs/guide.md': '# Guide\n', 'my.json': '{}' })
    expect((await sandbox.runInProcess(['add', 'docs', '--library', 'x.db'])).code).toBe(0)
    const { stdout } = await sandbox.runInProcess(['uninstall', '--library', './x.db', '--config', 'my.json'])
    expect(stdout).toContain(`uninstall --yes --config my.json --library ${sandbox.path('x.db')}\n`)
  })

  test('refuses a file or folder that is not a library, and removes nothing', async () => {
    const { default: Sqlite } = await import('better-sqlite3')
    new Sqlite(sandbox.path('other.db')).exec('CREATE TABLE mine (a)').close()
    sandbox.write({ 'notes.txt': 'mine', 'empty.db': '', 'folder/a.txt': 'mine' })
    const before = listFiles()
    for (const name of ['notes.txt', 'empty.db', 'other.db', 'folder']) {
      for (const flags of [[], ['--yes']]) {
        const { code, stderr } = await sandbox.runInProcess(['uninstall', ...flags, '--library', name])
        const problem = name === 'folder' ? 'is a folder' : 'it is not a library of Pharos'
        expect([name, code, stderr]).toEqual([name, 1, expect.stringContaining(problem)])
      }
    }
    expect(listFiles()).toEqual(before)
  })

  test('leaves packs and files of the user beside a library and in a configured cache', async () => {
    const ours = `cache-of-mine/folders/${'0a'.repeat(12)}.jsonl`
    const mine = {
      'pharos/packs/mine.zip': 'mine',
      'pharos/library.db.imports/mine.txt': 'mine',
      'cache-of-mine/folders/mine.txt': 'mine',
      'cache-of-mine/gazetteer/mine/countries.json': 'mine',
      'missing.db.failed.jsonl': 'mine',
    }
    sandbox.write({ ...mine, [ours]: '', 'cache-of-mine/gazetteer/world-countries@5.1.0/countries.json': '' })
    sandbox.write({ 'docs/guide.md': '# Guide\n' })
    expect((await sandbox.runInProcess(['add', 'docs', '--library', 'pharos/library.db'])).code).toBe(0)
    sandbox.write({ 'pharos/library.db.imports/s1.jsonl': '' })
    const uninstall = ['uninstall', '--yes', '--library']
    const environment = { PHAROS_CACHE_FOLDER: sandbox.path('cache-of-mine') }
    const { code, stdout } = await sandbox.runInProcess([...uninstall, 'pharos/library.db'], environment)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^left: exported packs in .*pharos\/packs$/m)
    expect((await sandbox.runInProcess([...uninstall, 'missing.db'])).code).toBe(0)
    expect(new Set(listFiles())).toEqual(new Set(['docs/guide.md', ...Object.keys(mine)]))
  })

  test('removes the library behind a symbolic link, and says that the link is left', async () => {
    sandbox.write({ 'docs/guide.md': '# Guide\n' })
    fs.mkdirSync(sandbox.path('disk'))
    fs.mkdirSync(sandbox.path('.local/share/pharos'), { recursive: true })
    fs.symlinkSync(sandbox.path('disk/library.db'), sandbox.path('.local/share/pharos/library.db'))
    expect((await sandbox.runInProcess(['add', 'docs'])).code).toBe(0)
    const { code, stdout } = await sandbox.runInProcess(['uninstall', '--yes'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^removed +library .*disk\/library\.db$/m)
    expect(stdout).toMatch(/^left: the link .*pharos\/library\.db$/m)
    expect(fs.readdirSync(sandbox.path('disk'))).toEqual([])
  })

  test('removes the link of a timer only with the timer, and says how to stop it', async () => {
    const units = '.config/systemd/user'
    const timer = `${units}/pharos-refresh.timer`
    const link = `${units}/timers.target.wants/pharos-refresh.timer`
    sandbox.write({ [timer]: '# mine\n' })
    fs.mkdirSync(sandbox.path(`${units}/timers.target.wants`))
    fs.symlinkSync(sandbox.path(timer), sandbox.path(link))
    const left = await sandbox.runInProcess(['uninstall', '--yes'])
    expect([left.stdout.includes('systemctl'), fs.existsSync(sandbox.path(link))]).toEqual([false, true])
    fs.rmSync(sandbox.path(timer))
    expect((await sandbox.runInProcess(['setup', '--timer', '--yes'])).code).toBe(0)
    const removed = await sandbox.runInProcess(['uninstall', '--yes'])
    expect(removed.stdout).toContain('systemctl --user stop pharos-refresh.timer')
    expect(fs.readdirSync(sandbox.path(units), { recursive: true })).toEqual(['timers.target.wants'])
  })

  test('refuses while a server or an idle process uses the library', async () => {
    sandbox.write({ 'docs/guide.md': '# Guide\n\nThe lamp is lit at dusk.\n' })
    const library = sandbox.path('library.db')
    expect((await sandbox.run(['add', 'docs', '--library', library])).code).toBe(0)
    const server = await startServer(sandbox)
    const refused = await sandbox.run(['uninstall', '--yes', '--library', library])
    server.kill('SIGTERM')
    await server.ended
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('nothing was removed')
    expect(fs.existsSync(library)).toBe(true)

    const { default: Sqlite } = await import('better-sqlite3')
    const db = new Sqlite(library)
    db.prepare('SELECT count(*) FROM sources').get()
    const locked = await sandbox.run(['uninstall', '--yes', '--library', library])
    db.close()
    expect(locked.code).toBe(1)
    expect(locked.stderr).toContain('another process has locked the library')
    expect(fs.existsSync(library)).toBe(true)
    expect((await sandbox.run(['uninstall', '--yes', '--library', library])).code).toBe(0)
    expect(fs.readdirSync(sandbox.folder).filter((name) => name.startsWith('library.db'))).toEqual([])
    expect(fs.existsSync(join(sandbox.folder, 'docs/guide.md'))).toBe(true)
  })
})
