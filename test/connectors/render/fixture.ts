import { readdirSync, readFileSync } from 'node:fs'
import type { Snapshot } from '../../../src/core/model.ts'
import type { RenderOutcome } from '../../../src/crawl/ports.ts'
import { type Allowance, parseAllowance } from '../../../src/fetch/addresses.ts'
import {
  type ChromiumRenderer,
  type ChromiumRendererOptions,
  openChromiumRenderer,
} from '../../../src/fetch/chromium/renderer.ts'
import { locateChromium } from '../../browser/chromium.ts'
import { closeLater } from '../../close-later.ts'
import { type Answer, openSite, type Site } from '../../sites/site.ts'

/** Address of the sites that pages may reach. */
export const SITE_ADDRESS = '127.0.0.2'

/** A site that pages may reach. */
export async function openTestSite(pages: Readonly<Record<string, Answer>> = {}): Promise<Site> {
  const site = await openSite(pages, { address: SITE_ADDRESS })
  closeLater(() => site.close())
  return site
}

/** Parses rules that allow internal addresses. */
export function allow(...rules: readonly string[]): Allowance {
  const parsed = parseAllowance(rules)
  if (parsed.type === 'problem') throw new Error(parsed.problem)
  return parsed.allowance
}

/** A renderer whose pages may reach the test sites, and no other address of this machine. */
export function openRenderer(options: Partial<ChromiumRendererOptions> = {}): Promise<ChromiumRenderer> {
  return openChromiumRenderer({
    executablePath: locateChromium(),
    userAgent: 'Pharos/0.0.0 (+test)',
    allowance: allow(SITE_ADDRESS),
    ...options,
  })
}

/** A renderer that is closed at the end of the test. */
export async function openTestRenderer(options: Partial<ChromiumRendererOptions> = {}): Promise<ChromiumRenderer> {
  const renderer = await openRenderer(options)
  closeLater(() => renderer.close())
  return renderer
}

/** A snapshot of an HTML page with the given body. */
export function snapshotOf(url: string, body: string, head = ''): Snapshot {
  return { url, body: `<!doctype html><html><head><title>Page</title>${head}</head><body>${body}</body></html>` }
}

/** The HTML of a rendered page. */
export function htmlOf(outcome: RenderOutcome): string {
  if (outcome.type === 'failed') throw new Error(`${outcome.reason}: ${outcome.detail}`)
  return String(outcome.snapshot.body)
}

/** All descendants of a process, without the process itself. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    // The pattern begins behind the program name, because the name may hold spaces and brackets.
    const [, parent] = /\) \S (\d+)/.exec(readStat(name)) ?? []
    if (parent !== undefined) parents.set(Number(name), Number(parent))
  }
  const family = new Set([pid])
  for (let before = 0; before !== family.size; ) {
    before = family.size
    for (const [child, parent] of parents) if (family.has(parent)) family.add(child)
  }
  family.delete(pid)
  return [...family]
}

/** Checks whether a process exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  const [, state] = /\) (\S)/.exec(readStat(String(pid))) ?? []
  return state !== undefined && state !== 'Z' && state !== 'X'
}

/** The browser processes among the descendants of a process. */
export function browsersOf(pid: number): number[] {
  return descendantsOf(pid).filter((one) => readCommand(one).includes('chromium'))
}

/** The main process of the browser among the descendants of a process. */
export function mainBrowserOf(pid: number): number {
  const main = browsersOf(pid).find((one) => {
    const command = readCommand(one)
    return command.includes('--remote-debugging-pipe') && !command.includes('--type=')
  })
  if (main === undefined) throw new Error('no browser runs')
  return main
}

/** The browser processes that run pages, among the descendants of a process. */
export function pageProcessesOf(pid: number): number[] {
  return browsersOf(pid).filter((one) => readCommand(one).includes('--type=renderer'))
}

/** Private memory of processes, in bytes. */
export function memoryOf(pids: readonly number[]): number {
  const sizes = pids.map((pid) => /^RssAnon:\s+(\d+)/m.exec(readProc(`${pid}/status`))?.[1] ?? '0')
  return sizes.reduce((sum, kilobytes) => sum + Number(kilobytes) * 1024, 0)
}

function readStat(pid: string): string {
  return readProc(`${pid}/stat`)
}

function readCommand(pid: number): string {
  return readProc(`${pid}/cmdline`)
}

/** Reads a file below /proc, or an empty text if the process is gone. */
function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'latin1')
  } catch {
    return ''
  }
}
