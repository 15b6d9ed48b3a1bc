import { labelOfCode } from './address-labels.ts'
import { capitalize } from './text/capitalize.ts'

/** The kinds of problems in the order of a filter, with the titles of those whose names say too little. */
export const PROBLEM_TITLES: Readonly<Record<string, string | null>> = {
  'start-failed': null,
  'page-cap': 'Page limit reached',
  'coverage-open': 'Pages left out',
  'loss-gate': 'Removal held back',
  'host-held': 'Host paused',
  'host-parked': 'Host given up',
  'crawl-delay-cut': 'Crawl delay shortened',
  'address-overflow': 'Too many addresses',
  'llms-txt-unusable': 'llms.txt cannot be used',
  'llms-full-missing': 'llms-full.txt is missing',
  'paused-disk-full': 'Paused: disk full',
  'paused-locked': 'Paused: library locked',
  'paused-unreachable': 'Paused: library unreachable',
  'paused-read-only': 'Paused: library read-only',
  'paused-memory': 'Paused: memory short',
  'missing-hub': null,
  'missing-header': null,
  'unknown-pattern': null,
  'no-hubs-seeded': 'No hub to guess',
  'planner-skipped-host': 'Host without a plan',
  'intelligent-plan-failed': 'Plan failed',
}

/** The kinds of milestones, like {@link PROBLEM_TITLES}. */
export const MILESTONE_TITLES: Readonly<Record<string, string | null>> = {
  'depth2-coverage': 'Second level read',
  'downloads-1k': '1,000 documents downloaded',
  'articles-identified-1k': '1,000 articles found',
  'articles-identified-10k': '10,000 articles found',
  'patterns-learned': null,
  'hubs-seeded': 'Hubs guessed',
  'seeds-prepared': 'Guesses prepared',
  'cache-primed': 'Known hubs requested first',
  'full-understanding': 'Site fully understood',
}

/** A kind of problem or milestone as a title: `missing-hub` → `Missing hub` */
export function writeNoteTitle(kind: string): string {
  const title = PROBLEM_TITLES[kind] ?? MILESTONE_TITLES[kind]
  return title ?? capitalize(kind.replaceAll('-', ' '))
}

/** A message without codes: `failed (http-server-error, answered 500)` → `failed (server error, answered 500)` */
export function withoutCodes(message: string): string {
  return message.replace(/(?<=\()([a-z]+(?:-[a-z\d]+)+)(?=[,:)])(?:, render \w+)?/g, (_, code: string) =>
    labelOfCode(code),
  )
}

/**
 * The address that a message is about, and where the message names it; -1 if it does not. An address of the message that begins with the
 * target is taken as a whole.
 */
export function findNoteUrl(message: string, target: string): { readonly at: number; readonly url: string } {
  const at = message.indexOf(target)
  if (at === -1) return { at, url: target }
  const rest = /^(?:\([^\s()]*\)|[^\s()])*?(?=[:.,;]?(?:[\s)]|$))/.exec(message.slice(at + target.length))?.[0] ?? ''
  return { at, url: `${target}${rest}` }
}
