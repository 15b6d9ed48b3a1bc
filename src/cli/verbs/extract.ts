import type { Command } from 'commander'
import { PharosError, usageError } from '../../core/errors.ts'
import type { Extraction, NoPageReason, Snapshot } from '../../core/model.ts'
import { PageDefect } from '../../crawl/page-defect.ts'
import { formatOf } from '../../documents/formats.ts'
import { nodeSha256 } from '../../ingest/sha256.ts'
import { readInput } from '../input.ts'
import { addCommonOptions, type CommonFlags, configOf } from '../options/options.ts'
import { printable, printableLine, type Streams, Terminal } from '../terminal.ts'

interface ExtractFlags extends CommonFlags {
  readonly url?: string
  readonly debug?: boolean
}

/** Larger files are unlikely to be readable pages. */
const MAX_BYTES = 50 * 2 ** 20

/** The base address of a page without `--url`: relative links stay as they are. */
const DEFAULT_URL = 'about:blank'

/** `pharos extract [file]` */
export function addExtract(program: Command, streams: Streams): void {
  const command = program
    .command('extract')
    .description('print the content of an HTML page or a document as Markdown')
    .argument('[file]', 'the page or document; without it, or with -, standard input is read')
    .option('--url <url>', 'address of the page, where its relative links start')
    .option('--debug', 'show what was left out and why')
    .addHelpText(
      'after',
      '\nExamples:\n  $ pharos extract page.html --url https://example.com/guide/\n  $ pharos extract manual.pdf\n  $ curl -s https://example.com | pharos extract --url https://example.com',
    )
  addCommonOptions(command).action(async (file: string | undefined, flags: ExtractFlags) => {
    configOf(command)
    const terminal = new Terminal(flags, streams)
    const url = flags.url === undefined ? DEFAULT_URL : parseWebUrl(flags.url)
    const isFromKeyboard = (file === undefined || file === '-') && process.stdin.isTTY
    if (isFromKeyboard) terminal.note('reading HTML from the keyboard; Ctrl-D ends it')
    const { name, bytes } = await readInput(file, MAX_BYTES)
    const snapshot = createSnapshot(url, bytes, name)
    const extraction = await extract(snapshot, name, flags.debug === true)
    for (const { step, reason, element, text } of extraction.removals) {
      terminal.note(printableLine(`${step}: ${reason}: ${element}: ${text}`))
    }
    printExtraction(extraction, name, terminal)
  })
}

/** Extracts a page or document with the same limits of time and memory as a crawled one. */
async function extract(snapshot: Snapshot, source: string, debug: boolean): Promise<Extraction> {
  const { openPageReader } = await import('../../processes/page-reader.ts')
  const reader = openPageReader({ sha256: nodeSha256 })
  try {
    return await reader.extract(snapshot, source, debug)
  } catch (error) {
    if (!(error instanceof PageDefect)) throw error
    const advice = 'split it into smaller documents'
    throw new PharosError('PAGE_REFUSED', {
      source,
      reason: 'it cannot be read',
      detail: `it ${error.message}`,
      advice,
    })
  } finally {
    await reader.close()
  }
}

function parseWebUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href
  throw usageError(`--url: expected an address with http or https, got ${JSON.stringify(text)}`)
}

/** The file extension stands in for the `content-type` header. */
function createSnapshot(url: string, body: Uint8Array, name: string): Snapshot {
  const [, extension = ''] = /\.([a-z]+)$/i.exec(name) ?? []
  const type = formatOf(name, body)?.mediaTypes[0] ?? MEDIA_TYPES[extension.toLowerCase()]
  return type === undefined ? { url, body } : { url, body, headers: { 'content-type': type } }
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  markdown: 'text/markdown',
  mdx: 'text/mdx',
  txt: 'text/plain',
  json: 'application/json',
}

function printExtraction(extraction: Extraction, source: string, terminal: Terminal): void {
  if (extraction.type === 'page') {
    const markdown = extraction.page.markdown.trimEnd()
    terminal.answer(terminal.isAnswerOnTerminal ? printable(markdown) : markdown, extraction)
    return
  }
  if (terminal.isJson) terminal.answer('', { ...extraction, reason: extraction.reason.replaceAll('_', '-') })
  const { reason, detail, target } = extraction
  const detailWithTarget = target === null ? detail : `${detail}: ${target}`
  const advice =
    terminal.isJson || REASONS_WITHOUT_LINKS.has(reason) ? ADVICE[reason] : `${ADVICE[reason]}; --json gives its links`
  throw new PharosError('PAGE_REFUSED', { source, reason: REASONS[reason], detail: detailWithTarget, advice })
}

/** Reasons for which the extraction has no links. */
const REASONS_WITHOUT_LINKS: ReadonlySet<NoPageReason> = new Set([
  'empty',
  'not_text',
  'encrypted',
  'damaged',
  'too_large',
])

const ADVICE: Readonly<Record<NoPageReason, string>> = {
  challenge: 'save the page from a browser that was let through',
  login: 'save the page from a browser that is logged in',
  soft_404: 'check the address that it came from',
  needs_rendering: 'save the page from a browser when it is complete',
  redirect: 'read the page that it redirects to',
  empty: 'check that it was saved completely; --debug shows what was left out',
  not_text: 'give HTML, Markdown, plain text or a document such as a PDF',
  encrypted: 'save it without a password',
  damaged: 'open it in the program that made it, and save it again',
  too_large: 'split it into smaller documents',
}

const REASONS: Readonly<Record<NoPageReason, string>> = {
  challenge: 'it shows a check for robots, such as a CAPTCHA',
  login: 'it requires a login',
  soft_404: 'it says that the page does not exist',
  needs_rendering: 'it is empty until a browser runs its scripts',
  redirect: 'it redirects to another address',
  empty: 'it is empty',
  not_text: 'it is not text',
  encrypted: 'it is protected by a password',
  damaged: 'it is damaged, or not a file of its format',
  too_large: 'it is larger than allowed',
}
