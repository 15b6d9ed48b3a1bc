import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NO_BROWSER, PROGRAM, ProgramSandbox } from './program.ts'

let sandbox: ProgramSandbox

/** Runs the program in this process. A space separates two arguments, and quotes have no meaning. */
function pharos(line: string, environment?: Readonly<Record<string, string>>) {
  return sandbox.runInProcess(line.split(' ').filter(Boolean), environment)
}

/** Runs the program as a separate process. Used once per verb, and for behavior that only a process has. */
function start(line: string, environment?: Readonly<Record<string, string>>) {
  return sandbox.run(line.split(' ').filter(Boolean), environment)
}

async function json(line: string, environment?: Readonly<Record<string, string>>): Promise<unknown> {
  const { stdout, stderr, code } = await pharos(`${line} --json`, environment)
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  return JSON.parse(stdout)
}

beforeAll(async () => {
  if (!fs.existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  sandbox = new ProgramSandbox()
  sandbox.write({
    'docs/guide.md': '# Guide\n\nWelcome.\n\n## Retry\n\nWait for Retry-After before the next visit.\n',
    'docs/code.py': 'def visit(url):\n    return fetch(url)\n\n\nclass Frontier:\n    def take(self):\n        pass\n',
    'docs/hostile.md': '# Evil \x1b]0;owned\x07 title\n\nhostile \x1b[2J\x1b[31m words\u202e here\n',
    'docs/.gitignore': '*.tmp\n',
    'docs/x.tmp': 'ignored',
    'docs/.env': 'password = "correct-horse-battery"\n',
  })
  expect(await start('pack docs --out docs.zip --full')).toMatchObject({ code: 0, stdout: 'docs.zip\n' })
})

afterAll(() => sandbox.remove())

function sizeOf(name: string): number {
  return fs.statSync(sandbox.path(name)).size
}

describe('pack', () => {
  test('prints the path on stdout and everything else on stderr', async () => {
    expect(await pharos('pack docs --out plain.zip --no-cache')).toEqual({
      code: 0,
      signal: null,
      stdout: 'plain.zip\n',
      stderr: expect.stringMatching(
        /^5 files, 7 chunks, about \d+ tokens, \S+ KB \(about \S+ KB with --full\)\nskipped: 1 ignored \(--verbose lists them\)\nwarnings: 1 secret \(--verbose lists them\)\n$/,
      ),
    })
  })

  test('writes to a default path that a later pack of the same folder skips', async () => {
    sandbox.write({ 'own/a.md': 'a' })
    const first = await sandbox.shell('cd own && pharos pack .')
    const second = await sandbox.shell('cd own && pharos pack . && ls -A')
    expect(first.stdout).toMatch(/^own\.llmx-[0-9a-f]{8}\.zip\n$/)
    expect(second.stdout).toBe(`${first.stdout}a.md\n${first.stdout}`)
  })

  test('--json prints every fact about the pack and no secret', async () => {
    const answer = await json('pack docs --out facts')
    expect(answer).toEqual({
      out: ['facts'],
      index_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      files: 5,
      chunks: 7,
      token_estimate: expect.any(Number),
      files_read: expect.any(Number),
      files_cut: expect.any(Number),
      files_unchanged: expect.any(Number),
      skipped: [{ path: 'x.tmp', reason: 'ignored' }],
      warnings: [{ path: '.env', code: 'secret', message: 'line 1 looks like a password or key' }],
      bytes: expect.any(Number),
    })
  })

  test('--verbose lists skipped files with the reason, and warnings', async () => {
    const { stderr } = await pharos('pack docs --out verbose.zip --verbose')
    expect(stderr).toContain('skipped x.tmp (ignored)\nwarning .env: line 1 looks like a password or key\n')
  })

  test('--quiet prints only the path of the pack', async () => {
    expect(await pharos('pack docs --out quiet.zip --quiet')).toMatchObject({ stdout: 'quiet.zip\n', stderr: '' })
  })

  test('says which documents of a folder are not in the pack', async () => {
    sandbox.write({ 'papers/a.md': '# A\n\nWords.\n', 'papers/b.pdf': '%PDF-1.7', 'papers/c.png': 'x' })
    const { stderr } = await pharos('pack papers --out papers.zip')
    expect(stderr).toContain(
      'left out: 1 document such as PDF; a pack of a folder holds text files only; to include documents, run `pharos add` and pack that source',
    )
  })

  test('writes a compact pack that can be searched, and names about the size of the full one', async () => {
    const { stderr } = await pharos('pack docs --out compact.zip')
    expect((await pharos('search retry --pack compact.zip')).stdout).toContain('guide.md:5-7')
    await pharos('pack docs --out explicit.zip --compact')
    expect(sizeOf('explicit.zip')).toBe(sizeOf('compact.zip'))
    const [, estimate = ''] = /\(about (\S+) KB with --full\)/.exec(stderr) ?? []
    // A small pack is measured as a whole.
    expect(Number(estimate)).toBeCloseTo(sizeOf('docs.zip') / 1024, 0)
    const symbol = await pharos('search visit --symbol visit --pack compact.zip')
    expect(symbol.stderr).toContain('--symbol finds nothing in a compact pack')
    expect((await pharos('pack docs --out no.zip --full --compact')).stderr).toContain('exclude each other')
  })

  test('--split writes parts that open and search, and reports leftover parts of an earlier split', async () => {
    const first = await pharos('pack docs --out parts.zip --split 20')
    const parts = first.stdout.trim().split('\n')
    expect(parts.length).toBeGreaterThan(2)
    expect(parts[0]).toMatch(/^parts\.part-\d+\.zip$/)
    for (const part of parts) {
      const { code, stdout } = await pharos(`search retry guide visit frontier hostile password tmp --pack ${part}`)
      expect([code, stdout === '']).toEqual([0, false])
    }
    const second = await pharos('pack docs --out parts.zip --split 60')
    expect(second.stderr).toContain(`parts of an earlier pack are still there: `)
    const third = await pharos('pack docs --out parts.zip --split 6000')
    expect(third.stdout).toBe('parts.zip\n')
    expect(third.stderr).toContain(`parts of an earlier pack are still there: parts.part-1.zip, parts.part-2.zip`)
  })

  test('--split writes no part when one of the target paths is taken', async () => {
    sandbox.write({ 'taken.part-2.zip': 'mine' })
    expect(await pharos('pack docs --out taken.zip --split 20')).toMatchObject({ code: 1, stdout: '' })
    expect(fs.existsSync(sandbox.path('taken.part-1.zip'))).toBe(false)
    expect(fs.readFileSync(sandbox.path('taken.part-2.zip'), 'utf8')).toBe('mine')
  })

  test('never replaces a folder that only has the name of a pack', async () => {
    sandbox.write({ 'docs.llmx-0123abcd/thesis.txt': 'mine' })
    expect(await pharos('pack docs --out docs.llmx-0123abcd')).toMatchObject({ code: 1, stdout: '' })
    expect(fs.readFileSync(sandbox.path('docs.llmx-0123abcd/thesis.txt'), 'utf8')).toBe('mine')
  })

  test('leaves out an image that keeps changing, with a warning, and packs everything else', async () => {
    sandbox.write({ 'moving/a.png': '0', 'moving/b.md': '# B\n\nStays.\n' })
    // Separate processes change the file however busy this process is, and never leave it empty. There are three, because the system may
    // suspend one on a busy machine.
    const change = `const file = fs.openSync(process.argv[1], 'r+')
      for (let i = 0, end = Date.now() + 60_000; Date.now() < end; i++) fs.writeSync(file, 'image ' + i, 0)`
    const args = ['-e', change, sandbox.path('moving/a.png')]
    const writers = Array.from({ length: 3 }, () => spawn(process.execPath, args, { stdio: 'ignore' }))
    // Waits for the first change: an image read before that would be packed like any other.
    while (fs.readFileSync(sandbox.path('moving/a.png'), 'utf8') === '0') {
      await new Promise((wake) => setTimeout(wake, 10))
    }
    const { code, stdout, stderr } = await pharos('pack moving --out moving.zip --json')
    for (const writer of writers) writer.kill('SIGKILL')
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(JSON.parse(stdout)).toMatchObject({ files: 1, chunks: 1, warnings: [{ path: 'a.png', code: 'changed' }] })
    expect((await pharos('outline --pack moving.zip')).stdout).toBe('b.md  markdown, 1 chunk\n')
  })

  test('--split into a folder makes one folder for each part', async () => {
    const { stdout } = await pharos('pack docs --out parts --split 20')
    const parts = stdout.trim().split('\n')
    expect(parts[0]).toBe('parts/part-1')
    expect((await pharos(`outline --pack ${parts[1]}`)).code).toBe(0)
  })

  test('packs the same files to the same bytes, with and without the cache', async () => {
    for (const flags of ['', '--no-cache', '']) await pharos(`pack docs --out same${flags.length}.zip --full ${flags}`)
    expect(fs.readFileSync(sandbox.path('same0.zip')).equals(fs.readFileSync(sandbox.path('same10.zip')))).toBe(true)
    expect(fs.readFileSync(sandbox.path('same0.zip')).equals(fs.readFileSync(sandbox.path('docs.zip')))).toBe(true)
  })

  test('takes limits as flags, a megabyte being 2^20 bytes', async () => {
    sandbox.write({ 'sizes/a.txt': 'x'.repeat(2 ** 20), 'sizes/b.txt': 'x'.repeat(2 ** 20 + 1), 'sizes/c.txt': 'x' })
    const codes = async (flags: string) => {
      const { warnings } = (await json(`pack sizes --out sizes.zip ${flags}`)) as {
        warnings: { path: string; code: string }[]
      }
      return warnings.map(({ path, code }) => `${path} ${code}`)
    }
    expect(await codes('--max-file-bytes 1MB')).toEqual(['b.txt max_file_bytes'])
    expect(await codes('--max-total-bytes 1MB')).toEqual(['b.txt max_total_bytes', 'c.txt max_total_bytes'])
    expect(await codes('--max-chunks-per-file 150 --chunk-max-chars 8000')).toEqual([])
    expect(await codes('--max-chunks-per-file 100')).toEqual(['a.txt max_chunks_per_file', 'b.txt max_chunks_per_file'])
    expect(await codes('--max-total-chunks 200')).toEqual(['b.txt max_total_chunks'])
    expect(await codes('--chunk-target-chars 64 --chunk-max-chars 64')).toEqual([
      'a.txt max_chunks_per_file',
      'b.txt max_chunks_per_file',
    ])
  })
})

describe('search', () => {
  test('prints citation, headings and snippet', async () => {
    expect(await start('search retry --pack docs.zip')).toEqual({
      code: 0,
      signal: null,
      stdout: expect.stringMatching(
        /^c000\w {2}guide\.md:5-7 {2}\d+\.\d\d\n {2}Guide > Retry\n {2}## Retry Wait for Retry-After before the next visit\.\n$/,
      ),
      stderr: '',
    })
  })

  test('--json prints hits with exactly the fields of the format', async () => {
    const { query, hits } = (await json('search retry --pack docs.zip')) as { query: string; hits: object[] }
    expect(query).toBe('retry')
    expect(hits.map((hit) => Object.keys(hit))).toEqual([
      [
        ...['chunkId', 'chunkRef', 'score', 'path', 'startLine', 'endLine', 'snippet', 'headingPath'],
        ...['chunk_id', 'chunk_ref', 'start_line', 'end_line', 'heading_path'],
      ],
    ])
  })

  test('a search without hits says so and exits with 0', async () => {
    expect(await pharos('search zzzz --pack docs.zip')).toEqual({
      code: 0,
      signal: null,
      stdout: '',
      stderr: 'no hits; other words or fewer filters may find some\n',
    })
    expect(await json('search zzzz --pack docs.zip')).toEqual({
      query: 'zzzz',
      relevance: 'none',
      uncovered: ['zzzz'],
      hits: [],
    })
  })

  test('takes filters and a limit', async () => {
    const paths = async (flags: string) => {
      const { hits } = (await json(`search visit retry hostile --pack docs.zip ${flags}`)) as {
        hits: { path: string }[]
      }
      return new Set(hits.map(({ path }) => path))
    }
    expect(await paths('')).toEqual(new Set(['code.py', 'guide.md', 'hostile.md']))
    expect((await paths('--limit 1')).size).toBe(1)
    expect(await paths('--kind python')).toEqual(new Set(['code.py']))
    expect(await paths('--path guide.md')).toEqual(new Set(['guide.md']))
    expect(await paths('--path ./guide.md')).toEqual(new Set(['guide.md']))
    expect(await paths('--path-prefix h')).toEqual(new Set(['hostile.md']))
    expect(await paths('--heading Guide/Re')).toEqual(new Set(['guide.md']))
    expect(await paths('--symbol vis')).toEqual(new Set(['code.py']))
  })

  test('takes words that begin with a dash after --, also those that are options elsewhere', async () => {
    const { stdout, code } = await pharos('search --pack docs.zip -- --retry --json')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Weak match: nothing found mentions "json"\.\n\nc000\w {2}guide\.md:5-7/)
  })

  test('explains its scores on request', async () => {
    expect((await pharos('search retry --pack docs.zip --explain')).stdout).toMatch(
      /\n {2}\d\.\d{3} {2}retry in heading, body \(/,
    )
  })
})

describe('get, outline and symbols', () => {
  test('get prints a chunk exactly, and its citation on stderr', async () => {
    const { hits } = (await json('search retry --pack docs.zip')) as { hits: { chunk_ref: string; chunk_id: string }[] }
    const { chunk_ref: ref = '', chunk_id: id = '' } = hits[0] ?? {}
    expect(await start(`get ${ref} --pack docs.zip`)).toEqual({
      code: 0,
      signal: null,
      stdout: '## Retry\n\nWait for Retry-After before the next visit.\n',
      stderr: 'guide.md:5-7  Guide > Retry\n',
    })
    expect(await json(`get ${id.slice(0, 12)} --pack docs.zip`)).toMatchObject({
      ref,
      id,
      path: 'guide.md',
      start_line: 5,
    })
  })

  test('outline lists the files of a pack, and the structure of one file', async () => {
    expect((await start('outline --pack docs.zip')).stdout).toContain('guide.md  markdown, 2 chunks\n')
    expect((await pharos('outline ./guide.md --pack docs.zip')).stdout).toMatch(
      /^c000\w Guide {2}1-4\nc000\w {3}Guide > Retry {2}5-7\n$/,
    )
    expect(await json('outline guide.md --pack docs.zip')).toMatchObject({
      path: 'guide.md',
      kind: 'markdown',
      line_count: 7,
      headings: ['Guide', 'Guide/Retry'],
      chunks: [{ start_line: 1, end_line: 4, label: 'Guide' }, { start_line: 5 }],
    })
  })

  test('symbols lists definitions with their lines', async () => {
    const { stdout } = await start('symbols code.py --pack docs.zip')
    expect(stdout).toMatch(/^Frontier\S* {2}c000\w {2}code\.py:5\n(.*\n)*visit {2}c000\w {2}code\.py:1\n$/)
    const answer = (await json('symbols --pack docs.zip')) as { path: null; symbols: object[] }
    expect(answer.path).toBeNull()
    expect(answer.symbols).toContainEqual({ symbol: 'visit', ref: expect.any(String), path: 'code.py', start_line: 1 })
    expect(await pharos('symbols guide.md --pack docs.zip')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'no definitions: this is text, or code without a grammar\n',
    })
    expect(await json('symbols guide.md --pack docs.zip')).toEqual({ path: 'guide.md', symbols: [], has_more: false })
    expect((await pharos('symbols --pack docs.zip --prefix vis -n 1')).stdout).toMatch(/^visit {2}\S+ {2}code\.py:1\n$/)
  })
})

describe('symbols', () => {
  test('symbols have the line of their definition, not of the comment before it', async () => {
    sandbox.write({ 'lines/a.py': 'import os\n\n\n# Looks\n# twice.\n@cached\ndef visit(url):\n    return url\n' })
    await pharos('pack lines --out lines.zip --full')
    expect((await pharos('symbols --pack lines.zip')).stdout).toMatch(/^visit {2}c000\w {2}a\.py:7\n$/)
  })

  test('symbols says that a compact pack keeps no symbols', async () => {
    await pharos('pack docs --out compact-symbols.zip')
    expect(await pharos('symbols code.py --pack compact-symbols.zip')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'no definitions: a compact pack keeps no symbols; pack again with --full\n',
    })
  })
})

describe('doctor', () => {
  test('checks the installation and prints every setting with its origin', async () => {
    const { stdout, code } = await start('doctor', { ...NO_BROWSER, PHAROS_MAX_FILE_BYTES: '1MB' })
    expect(code).toBe(0)
    expect(stdout).toContain('maxFileBytes = 1048576  environment\n')
    expect(stdout).toContain('chunkMaxChars = 8000  default\n')
    expect(stdout).not.toContain('FAIL')
  })

  test('fails when a check fails, and still prints the report', async () => {
    const { stdout, code } = await pharos('doctor --json', { ...NO_BROWSER, PHAROS_MAX_FILE_BYTE: '1' })
    expect(code).toBe(1)
    const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; found: string }[] }
    expect(checks.filter(({ ok }) => !ok)).toEqual([
      {
        name: 'environment',
        ok: false,
        found: 'PHAROS_MAX_FILE_BYTE is not a known setting, did you mean PHAROS_MAX_FILE_BYTES?',
      },
    ])
  })
})

describe('wrong usage prints one line with the nearest spelling and exits with 2', () => {
  test.each([
    [
      'serch x',
      "unknown verb 'serch', did you mean search? – run `pharos help` or `pharos help <verb>` for the right spelling",
    ],
    [
      'help serch',
      "unknown verb 'serch', did you mean search? – run `pharos help` or `pharos help <verb>` for the right spelling",
    ],
    ['ask x', /^unknown verb 'ask', did you mean search\? – /],
    [
      'https://docs.example/',
      /^unknown verb 'https:\/\/docs\.example\/', did you mean add https:\/\/docs\.example\/\? – /,
    ],
    ['owner/name', /^unknown verb 'owner\/name', did you mean add owner\/name\? – /],
    [
      'add https://docs.example/ guide --allow-private',
      /– add one address at a time; `--name <name>` gives it a name$/,
    ],
    ['add https://docs.example/ --allow-private localhost', /– join a value to --allow-private with an equals sign: /],
    [
      'search x --pak docs.zip',
      "unknown option '--pak', did you mean --pack? – see `pharos help search`, or put -- before words with a dash: `pharos search --pack docs.zip -- --max-pages`",
    ],
    [
      'search --max-pages --pack docs.zip',
      "unknown option '--max-pages' – see `pharos help search`, or put -- before words with a dash: `pharos search --pack docs.zip -- --max-pages`",
    ],
    ['get c0001', 'c0001 is a ref of a pack: add --pack <dir|zip> – see `pharos help get`'],
    [
      'outline',
      'expected the address of a page, or --pack <dir|zip> to list the files of a pack – see `pharos help outline`',
    ],
    ['search x --path-prefix a', '--path-prefix is for packs: add --pack <dir|zip> – see `pharos help search`'],
    ['search x --pack docs.zip --source a', '--source is for the library, not for a pack – see `pharos help search`'],
    ['search', "missing required argument 'words' – see `pharos help search`"],
    [
      'search x --pack docs.zip --kind pyton',
      '--kind: there is no "pyton", did you mean python? – see `pharos help search`',
    ],
    [
      'search x --pack docs.zip --limit 0',
      '--limit: expected a whole number from 1 up, got "0" – see `pharos help search`',
    ],
    ['search x --pack', "option '--pack <dir|zip>' argument missing – see `pharos help search`"],
    [
      'pack docs --max-file-byte 1',
      "unknown option '--max-file-byte', did you mean --max-file-bytes? – see `pharos help pack`",
    ],
    ['pack docs --split x', '--split: expected a whole number from 1 up, got "x" – see `pharos help pack`'],
    [
      'pack docs --split 2',
      /^--split 2 is less than the largest chunk, which has \d+ tokens – see `pharos help pack`$/,
    ],
    ['pack', "missing required argument 'folder|source' – see `pharos help pack`"],
    ['pack a b', "too many arguments for 'pack'. Expected 1 argument but got 2: a, b – see `pharos help pack`"],
    ['pack docs --max-file-bytes lots', /^--max-file-bytes: expected a number of bytes such as 10MB, got "lots" – /],
    [
      'pack docs --chunk-target-chars 9000',
      'chunk-target-chars (9000) is above chunk-max-chars (8000) – see `pharos help pack`',
    ],
    [
      'pack docs --max-total-chunks 10 --max-chunks-per-file 11',
      'max-chunks-per-file (11) is above max-total-chunks (10) – see `pharos help pack`',
    ],
    ['pack docs.llmx-00000000', /^docs.llmx-00000000 is itself a pack – /],
    [
      'search x --pack docs.zip --config none.json',
      /^configuration file .*none\.json cannot be used: it does not exist – /,
    ],
  ])('pharos %s is refused with one line', async (line, problem) => {
    fs.mkdirSync(sandbox.path('docs.llmx-00000000'), { recursive: true })
    const { code, stdout, stderr } = await pharos(line)
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 2, stdout: '', lines: 2 })
    expect(stderr).toMatch(/^pharos: /)
    const message = stderr.slice('pharos: '.length, -1)
    if (typeof problem === 'string') expect(message).toBe(problem)
    else expect(message).toMatch(problem)
  })
})

describe('other failures have their documented exit codes', () => {
  test.each([
    ['pack nowhere', 3, 'SOURCE_NOT_FOUND'],
    ['pack docs/guide.md', 3, 'SOURCE_UNREADABLE'],
    ['pack empty', 3, 'SOURCE_EMPTY'],
    ['pack docs --out docs', 1, 'OUTPUT_REFUSED'],
    ['pack docs --out mine.zip', 1, 'OUTPUT_REFUSED'],
    ['search x --pack nowhere.zip', 3, 'PACK_NOT_FOUND'],
    ['search x --pack docs', 1, 'PACK_INVALID'],
    ['get c9999 --pack docs.zip', 3, 'CHUNK_NOT_FOUND'],
    ['outline none.md --pack docs.zip', 3, 'FILE_NOT_IN_PACK'],
    ['search x --path none.md --pack docs.zip', 3, 'FILE_NOT_IN_PACK'],
  ])('pharos %s fails with its exit code', async (line, exitCode, errorCode) => {
    fs.mkdirSync(sandbox.path('empty'), { recursive: true })
    sandbox.write({ 'mine.zip': 'PK my own archive' })
    const { code, stdout, stderr } = await pharos(`${line} --json`)
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string; advice: string } }
    expect({ code, stdout, error: error.code }).toEqual({ code: exitCode, stdout: '', error: errorCode })
    expect([error.message, error.advice]).not.toContain('')
  })

  test('an unknown chunk or file is answered with the nearest name', async () => {
    expect((await pharos('get c0009 --pack docs.zip')).stderr).toContain('did you mean c000')
    expect((await pharos('outline gide.md --pack docs.zip')).stderr).toContain('did you mean guide.md?')
    expect((await pharos('search x --path gide.md --pack docs.zip')).stderr).toContain('did you mean guide.md?')
  })
})

describe('help', () => {
  test('the program without a verb prints the help and exits with 2', async () => {
    const { code, stdout, stderr } = await start('')
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    expect(stdout).toBe((await pharos('help')).stdout)
    expect((await pharos('--help')).stdout).toBe(stdout)
  })

  const verbs =
    'add recrawl refresh retry status list remove explain stats duplicates search get read outline symbols embed pack fetch extract doctor help'
  test.each(['', ...verbs.split(' ')])('the help of "%s" fits 80 columns and has an example', async (verb) => {
    const { code, stdout } = await pharos(`help ${verb}`)
    expect(code).toBe(0)
    expect(stdout).toMatch(/\nExamples?:\n {2}\$ pharos /)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  test('--version prints the version', async () => {
    expect((await start('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('configuration', () => {
  test('a flag overrides the environment, and the environment overrides the file', async () => {
    sandbox.write({ 'set/pharos.config.json': '{ "maxFileBytes": "1KB" }', 'set/a.txt': 'x'.repeat(3000) })
    const args = 'set --config set/pharos.config.json --out set.zip'
    const text = fs.readFileSync(sandbox.path('set/pharos.config.json'), 'utf8')
    expect(text).toContain('1KB')
    const answer = (line: string, environment: Record<string, string> = {}) => json(`pack ${line}`, environment)
    expect(await pharos('pack set --out set.zip')).toMatchObject({ code: 0 })
    expect(await answer(args)).toMatchObject({ warnings: [{ path: 'a.txt', code: 'max_file_bytes' }] })
    expect(await answer(args, { PHAROS_MAX_FILE_BYTES: '4KB' })).toMatchObject({ warnings: [] })
    expect(await answer(`${args} --max-file-bytes 2KB`, { PHAROS_MAX_FILE_BYTES: '4KB' })).toMatchObject({
      warnings: [{ path: 'a.txt', code: 'max_file_bytes' }],
    })
  })

  test('a wrong setting is refused with the file or variable that holds it', async () => {
    sandbox.write({ 'wrong.json': '{ "maxFileByte": 1 }' })
    expect(await pharos('pack docs --config wrong.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('wrong.json: unknown setting "maxFileByte", did you mean "maxFileBytes"?'),
    })
    expect(await pharos('pack docs', { PHAROS_CACHE: 'perhaps' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('configuration PHAROS_CACHE: expected true or false, got "perhaps"'),
    })
  })
})

describe('streams', () => {
  test('a pipe gets no colors, whatever CI or the terminal variables say', async () => {
    for (const line of [
      'search retry --pack docs.zip',
      'outline --pack docs.zip',
      'doctor',
      'pack docs --out c.zip',
      'nix',
    ]) {
      const { stdout, stderr } = await start(line, { ...NO_BROWSER, CI: '1', TERM: 'xterm-256color' })
      expect(stdout + stderr).not.toContain('\x1b')
    }
  })

  test('a reader that closes the pipe early causes no failure', async () => {
    sandbox.write({ 'long/a.md': Array.from({ length: 5000 }, (_, i) => `# Heading ${i}\n\ntext\n`).join('\n') })
    await pharos('pack long --out long.zip --max-chunks-per-file 30000')
    const { stdout, stderr } = await sandbox.shell(
      'set -o pipefail; pharos outline a.md --pack long.zip | head -1; echo $?; pharos symbols --pack docs.zip | true',
    )
    expect(stdout).toBe('c0001 Heading 0  1-4\n0\n')
    expect(stderr).toBe('')
  })

  test('a failed write of the output is reported and exits with 1', async () => {
    const { stdout, stderr } = await sandbox.shell('pharos outline --pack docs.zip > /dev/full; echo $?')
    expect(stdout).toBe('1\n')
    expect(stderr).toMatch(/^pharos: the answer cannot be written: ENOSPC.*\n$/)
  })

  test('control characters of files never reach a terminal, but get writes the exact text to a pipe', async () => {
    for (const line of ['search hostile --pack docs.zip', 'outline hostile.md --pack docs.zip']) {
      const { stdout } = await pharos(line)
      // Matches every control character except line feeds.
      expect(stdout.match(/(?!\n)[\p{Cc}\u202e]/gu)).toBeNull()
    }
    const { hits } = (await json('search hostile --pack docs.zip')) as { hits: { chunk_ref: string }[] }
    const { stdout, stderr } = await pharos(`get ${hits[0]?.chunk_ref} --pack docs.zip`)
    expect(stdout).toContain('hostile \x1b[2J')
    expect(stderr).not.toContain('\x1b')
    const onTerminal = await sandbox.shell(
      `script -qec "'${process.execPath}' '${PROGRAM}' get ${hits[0]?.chunk_ref} --pack docs.zip" /dev/null`,
    )
    expect(onTerminal.stdout).toContain('hostile �[2J�[31m words� here')
  })

  test('control characters of names are never printed, not even in a trace', async () => {
    const { code, stderr } = await start('pack no\x1b[2Jwhere --verbose')
    expect(code).toBe(3)
    expect(stderr).toContain('no�[2Jwhere')
    expect(stderr).toContain('\n    at ')
    expect(stderr).not.toContain('\x1b')
  })

  test('the printed search command can be copied for any name of the pack', async () => {
    const run = (path: string) => {
      const command = `'${process.execPath}' '${PROGRAM}' pack docs --out ${path}`
      return sandbox.start('script', ['-qec', command, '/dev/null'], {}).ended
    }
    expect((await run("'my docs.zip'")).stdout).toContain(`search "…" --pack 'my docs.zip'`)
    expect((await run("'e\x1b[2J.zip'")).stdout).toContain(`search "…" --pack 'e�[2J.zip'`)
  })

  test('a terminal shows a live progress line that is erased at the end', async () => {
    sandbox.write(
      Object.fromEntries(
        Array.from({ length: 300 }, (_, i) => [`many/${i}.md`, `# ${i}\n\n${'words and more '.repeat(2000)}\n`]),
      ),
    )
    const command = `'${process.execPath}' '${PROGRAM}' pack many --out many.zip --no-cache`
    const { stdout } = await sandbox.shell(`TERM=xterm script -qec "stty cols 60; ${command}" /dev/null`)
    const drawn = stdout.split('\r\x1b[2K').slice(1)
    expect(drawn.length).toBeGreaterThan(2)
    expect(drawn.filter((line) => /^\d+\/300 files, \S+ chunks {2}\d+\.md$/.test(line)).length).toBeGreaterThan(0)
    expect(drawn.slice(0, -1).filter((line) => line.length > 60)).toEqual([])
    expect(drawn.at(-1)).toMatch(/^300 files, 1,?\d* chunks/)
  })
})
