import type { Command } from 'commander'
import type { Scope } from '../../core/url/scope.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { collectList, collectRepeated, wholeNumber } from './options.ts'

/** Flags that select which addresses are crawled. */
export interface ScopeFlags {
  readonly allow?: readonly string[]
  readonly block?: readonly string[]
  readonly maxDepth?: number
  readonly maxPages?: number
  readonly trapGuards?: boolean
}

/** Adds the flags of the scope. */
export function addScopeOptions(command: Command): Command {
  return command
    .option(
      '--allow <glob>',
      'crawl only paths that match; ! before a glob blocks; repeat it, or use commas',
      collectList,
    )
    .option('--block <glob>', 'leave out paths that match, even if --allow matches them', collectList)
    .option(
      '--max-depth <links>',
      'follow at most this many links from the start (default: any number)',
      wholeNumber('--max-depth', 0),
    )
    .option('--max-pages <count>', 'index at most this many pages (default: no limit)', wholeNumber('--max-pages', 1))
    .option('--no-trap-guards', 'also follow what looks endless: calendars, sessions, paths and content that repeat')
}

/** The scope from the flags that were given. */
export function scopeOf({ allow, block, maxDepth, maxPages, trapGuards }: ScopeFlags): Partial<Scope> {
  // `--no-x` flags default to true, so only `false` counts as given.
  const guards = trapGuards === false ? { trapGuards } : {}
  return { ...withoutUndefined({ allow, block, maxDepth, maxPages }), ...guards }
}

/** The flags of the scope as command line arguments. */
export function scopeWords({ allow = [], block = [], maxDepth, maxPages, trapGuards }: ScopeFlags): string[] {
  return [
    ...allow.flatMap((glob) => ['--allow', glob]),
    ...block.flatMap((glob) => ['--block', glob]),
    ...(maxDepth === undefined ? [] : ['--max-depth', String(maxDepth)]),
    ...(maxPages === undefined ? [] : ['--max-pages', String(maxPages)]),
    ...(trapGuards === false ? ['--no-trap-guards'] : []),
  ]
}

/** Adds the flag for request headers. */
export function addHeaderOption(command: Command): Command {
  return command.option(
    '--header <field>',
    "send 'Name: value', or the headers in @file, only to the origin of the start; never stored; repeatable",
    collectRepeated,
  )
}
