import type { Command } from 'commander'
import { PharosError } from '../core/errors.ts'
import { type CrawlType, hasPlan } from '../library/source.ts'
import type { PlannerOptions } from '../plan/planner-options.ts'
import { collectList, wholeNumber } from './options.ts'

/** Flags for the plan of a crawl. */
export interface PlannerFlags {
  readonly hubMaxPages?: number
  readonly hubMaxDays?: number
  readonly intMaxSeeds?: number
  readonly intTargetHosts?: readonly string[]
  readonly plannerVerbosity?: number
  readonly force?: boolean
}

/** Adds the flags for the plan of a crawl. */
export function addPlannerOptions(command: Command): Command {
  return command
    .option(
      '--hub-max-pages <count>',
      'with a plan: most pages from what one hub lists',
      wholeNumber('--hub-max-pages', 1),
    )
    .option(
      '--hub-max-days <days>',
      'with a plan: leave out what is older, by its address',
      wholeNumber('--hub-max-days', 1),
    )
    .option(
      '--int-max-seeds <count>',
      'with a plan: most addresses that are supposed',
      wholeNumber('--int-max-seeds', 1),
    )
    .option('--int-target-hosts <list>', 'plan only for hosts whose names end so; repeatable', collectList)
    .option(
      '--planner-verbosity <level>',
      'how much the plan tells of itself, from 0 to 3',
      wholeNumber('--planner-verbosity', 0, 3),
    )
    .option('--force', 'begin a history crawl although not enough is known of the site')
}

/** Rejects flags without effect: only some crawl types have a plan, and only `history` uses `--force`. */
export function refuseStrayFlags(flags: PlannerFlags, type: CrawlType): void {
  const { hubMaxPages, hubMaxDays, intMaxSeeds, intTargetHosts, plannerVerbosity, force } = flags
  const refuse = (flag: string, types: string): never => {
    throw new PharosError('USAGE', { problem: `--${flag} is for --crawl-type ${types}, and this crawl is ${type}` })
  }
  if (force === true && type !== 'history') refuse('force', 'history')
  if (hasPlan(type)) return
  const planned = {
    'hub-max-pages': hubMaxPages,
    'hub-max-days': hubMaxDays,
    'int-max-seeds': intMaxSeeds,
    'int-target-hosts': intTargetHosts,
    'planner-verbosity': plannerVerbosity,
  }
  const [stray] = Object.entries(planned).find(([, value]) => value !== undefined) ?? []
  if (stray !== undefined) refuse(stray, 'intelligent or history')
}

/** The options of the plan that were given; empty if none were. */
export function plannerOf(flags: PlannerFlags): { readonly planner?: PlannerOptions; readonly force?: boolean } {
  const { hubMaxPages, hubMaxDays, intMaxSeeds, intTargetHosts, plannerVerbosity, force } = flags
  const planner: PlannerOptions = {
    ...(hubMaxPages === undefined ? {} : { hubMaxPages }),
    ...(hubMaxDays === undefined ? {} : { hubMaxDays }),
    ...(intMaxSeeds === undefined ? {} : { maxSeeds: intMaxSeeds }),
    ...(intTargetHosts === undefined ? {} : { targetHosts: intTargetHosts }),
    ...(plannerVerbosity === undefined ? {} : { verbosity: plannerVerbosity }),
  }
  return { ...(Object.keys(planner).length === 0 ? {} : { planner }), ...(force === true ? { force } : {}) }
}
