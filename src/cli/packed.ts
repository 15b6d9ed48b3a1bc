import type { Command } from 'commander'
import { PharosError } from '../core/errors.ts'
import type { FileMeta } from '../core/model.ts'
import type { Pack } from '../core/pack/pack.ts'
import { PackSearch } from '../core/pack/search-pack.ts'
import { findNearest } from '../core/text/nearest.ts'
import { readPack } from '../ingest/pack-input.ts'
import { addCommonOptions, type CommonFlags } from './options.ts'

/** Flags of the verbs that look into a pack. */
export interface PackedFlags extends CommonFlags {
  readonly pack: string
}

/** Adds the options of a verb that looks into a pack. */
export function addPackedOptions(command: Command): Command {
  return addCommonOptions(command.requiredOption('--pack <dir|zip>', 'the pack to look into'))
}

/** A pack with what answers questions about it. */
export interface Packed {
  readonly pack: Pack
  readonly search: PackSearch
}

/** Opens the pack a verb was given. */
export function openPacked(flags: PackedFlags): Packed {
  const pack = readPack(flags.pack)
  return { pack, search: new PackSearch(pack) }
}

/** The file of a pack by its path; the nearest path is named when there is none. */
export function fileIn({ pack }: Packed, path: string, flags: PackedFlags): FileMeta {
  const found = pack.files.find((file) => file.path === path)
  if (found !== undefined) return found
  const sameName = pack.files.find((file) => file.path.endsWith(`/${path}`))?.path
  const nearest =
    sameName ??
    findNearest(
      path,
      pack.files.map((file) => file.path),
    )
  throw new PharosError('FILE_NOT_IN_PACK', { file: path, pack: flags.pack, nearest: suggest(nearest) })
}

/** `, did you mean x?` or nothing. */
export function suggest(nearest: string | undefined): string {
  return nearest === undefined ? '' : `, did you mean ${nearest}?`
}
