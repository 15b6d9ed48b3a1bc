import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SHELLS, writeShellScript } from '../../src/cli/installation/shell-scripts.ts'
import { PROGRAM, ProgramSandbox } from './program.ts'

let sandbox: ProgramSandbox

beforeAll(async () => {
  sandbox = new ProgramSandbox()
  sandbox.write({
    'docs/guide.md': '# Guide\n\nThe lamp is lit at dusk.\n',
    'bin/pharos': `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`,
  })
  fs.chmodSync(sandbox.path('bin/pharos'), 0o755)
  const labels = [['lamps'], ['lamp-guide', '2.0'], ['lamp-guide', '3.0'], ['my docs']]
  for (const [name = '', version] of labels) {
    const flags = version === undefined ? [] : ['--version', version]
    const { code, stderr } = await sandbox.runInProcess(['add', 'docs', '--name', name, ...flags])
    expect([code, name, stderr]).toEqual([0, name, stderr])
  }
})

afterAll(() => sandbox.remove())

/** The completions of a line after the name of the program. */
async function complete(...words: string[]): Promise<string[]> {
  const { code, stdout } = await sandbox.runInProcess(['complete', '--', ...words])
  expect(code).toBe(0)
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => (line.startsWith('\t') ? line.trim() : line.replace(/\t.*/s, '')))
}

describe('completions', () => {
  test.each<[string[], string[]]>([
    [['sea'], ['search']],
    [['re'], ['recrawl', 'refresh', 'retry', 'remove', 'read']],
    [['help', 'sym'], ['symbols']],
    [['search', '--du'], ['--duplicates']],
    [
      ['search', '--duplicates', ''],
      ['group', 'show'],
    ],
    [['search', '--embedder', 't'], ['tei']],
    [['search', '--embedder=t'], ['--embedder=tei']],
    [['add', 'https://docs.example.com', '--scope', 'host'], ['hostname']],
    [['embed', 'st'], ['status']],
    [['config', 'set', 'maxPage'], ['maxPageBytes']],
    [['config', 'set', 'embedder', 't'], ['tei']],
    [
      ['config', 'set', 'cache', ''],
      ['true', 'false'],
    ],
    [
      ['recrawl', 'lamp'],
      ['lamp-guide', 'lamp-guide@2.0', 'lamp-guide@3.0', 'lamps'],
    ],
    [['recrawl', 'lamp-guide@3'], ['lamp-guide@3.0']],
    [['recrawl', '--full', 'lamps'], ['lamps']],
    [['search', 'x', '--source', 'my'], ['my docs']],
    [
      ['search', 'x', '--version', ''],
      ['2.0', '3.0'],
    ],
    [['add', 'x', '--version', ''], []],
    [
      ['pack', 'lamps'],
      ['lamps', 'files'],
    ],
    [['pack', 'x', '--out', ''], ['files']],
    [['search', '--library', ''], ['files']],
    [['recrawl', 'lamp', '--library', 'other.db', ''], []],
    [['list', '--library', 'other.db', '--', ''], []],
    [['nonsense', ''], []],
    [['recrawl', 'lamps', ''], []],
  ])('%j', async (words, expected) => {
    expect(new Set(await complete(...words))).toEqual(new Set(expected))
  })

  test('offer every verb of the help, and no hidden one', async () => {
    const verbs = await complete('')
    const help = await sandbox.runInProcess(['help'])
    const shown = [...help.stdout.matchAll(/^ {2}([a-z-]+)/gm)].map(([, verb]) => verb)
    expect(new Set(verbs)).toEqual(new Set(shown.filter((verb) => !verb?.startsWith('-'))))
  })

  test('are empty, without an error, for an invalid configuration', async () => {
    sandbox.write({ 'broken.json': '{' })
    expect(await complete('recrawl', '--config', 'broken.json', 'lamp')).toEqual([])
  })
})

describe('scripts', () => {
  test.each(SHELLS)('%s: the script asks the program and knows no verb', async (shell) => {
    const { code, stdout } = await sandbox.runInProcess(['completion', shell])
    expect([code, stdout]).toEqual([0, writeShellScript(shell)])
    expect(stdout).toContain(' complete -- ')
    expect(stdout).not.toMatch(/recrawl|search/)
  })

  test('an unknown shell is refused', async () => {
    const { code, stderr } = await sandbox.runInProcess(['completion', 'tcsh'])
    expect(code).toBe(2)
    expect(stderr).toContain('there are bash, zsh, fish')
  })

  /** Runs a shell with the program on its path. */
  const runShell = async (shell: string, args: readonly string[]) => {
    const PATH = `${sandbox.path('bin')}:${process.env['PATH']}`
    return sandbox.start(shell, args, { PATH }).ended
  }

  /** Completes in bash as readline would ask. */
  const completeInBash = async (line: string, words: readonly string[]) => {
    const quoted = words.map((word) => `'${word}'`).join(' ')
    const script = `source <(pharos completion bash)
COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}
_pharos; printf '%s\\n' "\${COMPREPLY[@]}"; complete -p pharos`
    const { stdout, stderr } = await runShell('bash', ['--norc', '-c', script])
    const lines = stdout.trim().split('\n')
    expect([lines.pop(), stderr]).toEqual(['complete -F _pharos pharos', ''])
    return lines
  }

  test.each<[string, string[], string[]]>([
    ['pharos sea', ['pharos', 'sea'], ['search']],
    ['pharos recrawl lamp-', ['pharos', 'recrawl', 'lamp-'], ['lamp-guide', 'lamp-guide@2.0', 'lamp-guide@3.0']],
    // Bash replaces only what follows its word breaks.
    ['pharos recrawl lamp-guide@', ['pharos', 'recrawl', 'lamp-guide', '@'], ['2.0', '3.0']],
    ['pharos recrawl lamp-guide@3', ['pharos', 'recrawl', 'lamp-guide', '@', '3'], ['3.0']],
    ['pharos search --embedder=t', ['pharos', 'search', '--embedder', '=', 't'], ['tei']],
    ['pharos search x --source my', ['pharos', 'search', 'x', '--source', 'my'], ['my\\ docs']],
    ['pharos pack do', ['pharos', 'pack', 'do'], ['docs']],
    ['pharos nonsense ', ['pharos', 'nonsense', ''], []],
  ])('bash completes %j', async (line, words, expected) => {
    expect(await completeInBash(line, words)).toEqual(expected)
  })

  const isInstalled = (shell: string) => spawnSync(shell, ['--version']).status === 0

  test('zsh completes with descriptions', async () => {
    // Without the shell, the form of its script is checked; what it shows are the answers above.
    if (!isInstalled('zsh')) {
      expect(writeShellScript('zsh')).toMatch(
        /^#compdef pharos\n[\s\S]*_describe 'pharos' entries\n[\s\S]*compdef _pharos pharos\n$/,
      )
      return
    }
    const script = `functions[compdef]=':'; words=(pharos recrawl lamp-); CURRENT=3
_describe() { printf '%s\\n' "\${(@P)2}"; }; _files() { print files; }
source <(pharos completion zsh); _pharos`
    const { stdout, stderr } = await runShell('zsh', ['-f', '-c', script])
    expect([stdout.trim().split('\n'), stderr]).toEqual([['lamp-guide', 'lamp-guide@2.0', 'lamp-guide@3.0'], ''])
    const { stdout: flags } = await runShell('zsh', ['-f', '-c', script.replace('lamp-', '--accept')])
    expect(flags).toMatch(/^--accept-loss:\S/)
  })

  test('fish completes with descriptions', async () => {
    if (!isInstalled('fish')) {
      expect(writeShellScript('fish')).toMatch(
        /commandline -opc[\s\S]*complete -c pharos -f -a '\(__pharos_complete\)'\n$/,
      )
      return
    }
    const ask = (line: string) =>
      runShell('fish', ['-N', '-c', `pharos completion fish | source; complete -C '${line}'`])
    expect((await ask('pharos sea')).stdout.trim()).toBe('search')
    expect((await ask('pharos recrawl --accept')).stdout).toMatch(/^--accept-loss\t\S/)
    expect((await ask('pharos recrawl lamp-')).stdout.trim().split('\n')).toHaveLength(3)
    expect((await ask('pharos pack do')).stdout).toContain('docs/')
    expect((await ask('pharos ')).stdout).toContain('recrawl')
  })
})
