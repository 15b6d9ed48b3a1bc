import type { Command } from 'commander'
import { PharosError } from '../core/errors.ts'
import type { FileMeta } from '../core/model.ts'
import type { Pack } from '../core/pack/pack.ts'
import { PackSearch } from '../core/pack/search-pack.ts'
import { findNearest } from '../core/text/nearest.ts'
import { readPack } from '../ingest/pack-input.ts'
import { addCommonOptions, type CommonFlags, configOf } from './options.ts'

/** Flags of the verbs that look into a pack. */
export interface PackedFlags extends CommonFlags {
  readonly pack?: string
}

/** Adds the options of a verb that looks into a pack. */
export function addPackedOptions(command: Command): Command {
  // Not required as far as commander goes: it would complain before it looks at a misspelt `--pak`.
  return addCommonOptions(command.option('--pack <dir|zip>', 'the pack to look into'))
}

/** A pack with what answers questions about it. */
export interface Packed {
  /** What the pack was called by. */
  readonly name: string
  readonly pack: Pack
  readonly search: PackSearch
}

/** Opens the pack a verb was given. */
export function openPacked(command: Command, flags: PackedFlags): Packed {
  configOf(command)
  if (flags.pack === undefined) {
    const problem = `${command.name()} looks into a pack: add --pack <dir|zip>`
    throw new PharosError('USAGE', { problem })
  }
  const pack = readPack(flags.pack)
  return { name: flags.pack, pack, search: new PackSearch(pack) }
}

/** The file of a pack by its path; the nearest path is named when there is none. */
export function fileIn({ name, pack }: Packed, path: string): FileMeta {
  const wanted = path.replace(/^(?:\.\/)+/, '')
  const found = pack.files.find((file) => file.path === wanted)
  if (found !== undefined) return found
  const paths = pack.files.map((file) => file.path)
  const nearest = paths.find((one) => one.endsWith(`/${wanted}`)) ?? findNearest(wanted, paths)
  throw new PharosError('FILE_NOT_IN_PACK', { file: path, pack: name, nearest: suggest(nearest) })
}

/** `, did you mean x?` or nothing. */
export function suggest(nearest: string | undefined): string {
  return nearest === undefined ? '' : `, did you mean ${nearest}?`
}
