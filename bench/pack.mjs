// Packs a generated folder of mixed files and reports time and memory of the whole program.
//
//   npm run bench pack [--megabytes 50]
//
// A chunk has about 1,000 characters. Then packs the unchanged folder again, searches the pack, and packs in compact form. No peer writes
// this format.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createIdentifier, createRandom, createWords, pick, pickContent } from './corpus.mjs'
import { option, printTable } from './measure.mjs'

const megabytes = Number(option('megabytes') ?? 50)
const program = fileURLToPath(new URL('../pharos', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
try {
  const source = join(folder, 'mixed')
  const count = writeMixedFolder(source, megabytes * 2 ** 20)
  console.log(`${count} files, ${megabytes} MB: Markdown, TypeScript, Python, JSON, HTML, text`)
  const limits = ['--max-total-bytes', '2GB']
  const cache = { XDG_CACHE_HOME: join(folder, 'cache') }
  const rows = [
    measure('pack, full', ['pack', source, '--out', join(folder, 'full.zip'), '--full', ...limits], cache),
    measure(
      'pack again, nothing changed',
      ['pack', source, '--out', join(folder, 'full.zip'), '--full', ...limits],
      cache,
    ),
    measure('pack, compact', ['pack', source, '--out', join(folder, 'compact.zip'), ...limits], cache),
    measure('search the full pack', ['search', 'the answer', '--pack', join(folder, 'full.zip')], cache),
  ]
  printTable(['', 'wall s', 'CPU s', 'peak RSS MB'], rows)
  for (const name of ['full.zip', 'compact.zip']) {
    console.log(`${name}: ${(statSync(join(folder, name)).size / 2 ** 20).toFixed(1)} MB`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Runs the program in its own process, which reports its CPU time and peak memory. */
function measure(label, args, environment) {
  const report = join(folder, 'usage.json')
  const script = `
    process.on('exit', () => {
      require('node:fs').writeFileSync(${JSON.stringify(report)}, JSON.stringify(process.resourceUsage()))
    })`
  const hook = join(folder, 'usage.cjs')
  writeFileSync(hook, script)
  const start = performance.now()
  const { status, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, ...environment, NODE_OPTIONS: `--require ${hook}` },
  })
  const wall = (performance.now() - start) / 1000
  if (status !== 0) throw new Error(`${label} failed: ${stderr}`)
  const usage = JSON.parse(readFileSync(report, 'utf8'))
  const cpu = (usage.userCPUTime + usage.systemCPUTime) / 1e6
  return [label, wall.toFixed(1), cpu.toFixed(1), (usage.maxRSS / 1024).toFixed(0)]
}

function writeMixedFolder(root, bytes) {
  const random = createRandom(11)
  const words = createWords(30_000, random)
  const writers = [
    ['md', writeMarkdown],
    ['ts', writeTypeScript],
    ['py', writePython],
    ['json', writeJson],
    ['html', writeHtml],
    ['txt', writeText],
  ]
  let count = 0
  for (let written = 0; written < bytes; count++) {
    const [extension, write] = writers[count % writers.length]
    const text = write({
      sentence: () => `${Array.from({ length: 6 + Math.floor(random() * 14) }, () => pick(words, random)).join(' ')}.`,
      name: () => createIdentifier(words, random),
      word: () => pickContent(words, random),
      times: (n) => Array.from({ length: 1 + Math.floor(random() * n) }),
    })
    const path = join(root, `part-${count % 40}`, `${pickContent(words, random)}-${count}.${extension}`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    written += Buffer.byteLength(text)
  }
  return count
}

function writeMarkdown({ sentence, name, word, times }) {
  const section = () =>
    `## ${word()} ${word()}\n\n${times(24).map(sentence).join(' ')}\n\n\`\`\`js\n${times(6)
      .map(() => `${name()}(${word()})`)
      .join('\n')}\n\`\`\`\n\n${times(5)
      .map(() => `- ${sentence()}`)
      .join('\n')}\n\n| a | b |\n| --- | --- |\n${times(4)
      .map(() => `| ${word()} | ${word()} |`)
      .join('\n')}\n`
  return `# ${word()} ${word()}\n\n${times(24).map(section).join('\n')}`
}

function writeTypeScript({ sentence, name, word, times }) {
  const fn = () =>
    `/** ${sentence()} */\nexport function ${name()}(${word()}: string): number {\n${times(40)
      .map(() => `  const ${name()} = ${word()}.length + ${word().length}`)
      .join('\n')}\n  return 1\n}\n`
  return `import { ${name()} } from './${word()}.ts'\n\n${times(30).map(fn).join('\n')}`
}

function writePython({ sentence, name, word, times }) {
  const method = () =>
    `    def ${name()}(self, ${word()}):\n        """${times(4).map(sentence).join(' ')}"""\n${times(20)
      .map(() => `        ${name()} = ${word()}(${word()})\n`)
      .join('')}`
  return times(12)
    .map(() => `class ${name()}:\n    """${sentence()}"""\n\n${times(8).map(method).join('\n')}`)
    .join('\n\n')
}

function writeJson({ sentence, name, word, times }) {
  const entry = () => [name(), { [word()]: times(10).map(sentence), [word()]: times(20).map(word) }]
  return JSON.stringify(Object.fromEntries(times(30).map(entry)), null, 2)
}

function writeHtml({ sentence, word, times }) {
  const section = () =>
    `<h2>${word()}</h2>${times(24)
      .map(() => `<p>${sentence()} <b>${word()}</b></p>`)
      .join('\n')}`
  return `<!doctype html><title>${word()}</title><h1>${word()}</h1>${times(20).map(section).join('\n')}`
}

function writeText({ sentence, times }) {
  return times(60)
    .map(() => times(6).map(sentence).join('\n'))
    .join('\n\n')
}
