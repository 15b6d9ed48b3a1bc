import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import type { PlannerOptions } from '../../crawl/planner-options.ts'
import { type CrawlType, hasPlan } from '../../library/source.ts'
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
      'for intelligent and history crawls: page limit for each hub',
      wholeNumber('--hub-max-pages', 1),
    )
    .option(
      '--hub-max-days <days>',
      'for intelligent and history crawls: skip pages whose address has an older date',
      wholeNumber('--hub-max-days', 1),
    )
    .option(
      '--int-max-seeds <count>',
      'for intelligent and history crawls: limit of guessed addresses',
      wholeNumber('--int-max-seeds', 1),
    )
    .option('--int-target-hosts <list>', 'plan only for hosts whose names end with this; repeatable', collectList)
    .option(
      '--planner-verbosity <level>',
      'how much the plan logs, from 0 (nothing) to 3 (everything)',
      wholeNumber('--planner-verbosity', 0, 3),
    )
    .option('--force', 'start a history crawl even if too little is known about the site')
}

/** Rejects flags without effect: only some crawl types have a plan, and only `history` uses `--force`. */
export function refuseStrayFlags(flags: PlannerFlags, type: CrawlType): void {
  const { hubMaxPages, hubMaxDays, intMaxSeeds, intTargetHosts, plannerVerbosity, force } = flags
  const refuse = (flag: string, types: string): never => {
    throw usageError(`--${flag} is for --crawl-type ${types}, and this crawl is ${type}`)
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
    ...withoutUndefined({
      hubMaxPages,
      hubMaxDays,
      maxSeeds: intMaxSeeds,
      targetHosts: intTargetHosts,
      verbosity: plannerVerbosity,
    }),
  }
  return { ...(Object.keys(planner).length === 0 ? {} : { planner }), ...(force === true ? { force } : {}) }
}
