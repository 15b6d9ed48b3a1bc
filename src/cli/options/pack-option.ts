import type { Command } from 'commander'
import { PharosError, usageError } from '../../core/errors.ts'
import type { FileMeta } from '../../core/model.ts'
import type { Pack } from '../../core/pack/pack.ts'
import type { PackSearch } from '../../core/pack/search-pack.ts'
import { findNearest, suggest } from '../../core/text/nearest.ts'
import { flagName, type SettingName } from '../../settings/settings.ts'
import { addLibraryOptions } from '../library.ts'
import { type CommonFlags, configOf } from './options.ts'

/** Flags of the commands that read a library or a pack. */
export interface PackOptionFlags extends CommonFlags {
  readonly pack?: string
}

/** Adds the options of a command that reads a library or a pack, and flags for further settings. */
export function addPackOption(command: Command, settings: readonly SettingName[] = []): Command {
  return addLibraryOptions(command.option('--pack <dir|zip>', 'use this pack instead of the library'), settings)
}

/** An open pack and its search. */
export interface OpenedPack {
  /** The path that was given. */
  readonly name: string
  readonly pack: Pack
  readonly search: PackSearch
}

/** Opens the pack that was given. */
export async function openGivenPack(command: Command, name: string): Promise<OpenedPack> {
  configOf(command)
  // Loaded on demand, because queries to a library do not need it.
  const { readPack } = await import('../../ingest/pack-input.ts')
  const { PackSearch } = await import('../../core/pack/search-pack.ts')
  const pack = readPack(name)
  return { name, pack, search: new PackSearch(pack) }
}

/** Rejects the named flags if they are given. `problem` says what they are for. */
export function refuseFlags<T>(flags: T, names: readonly (keyof T & string)[], problem: string): void {
  const refused = names.find((name) => flags[name] !== undefined)
  if (refused !== undefined) throw usageError(`--${flagName(refused)} ${problem}`)
}

/** Finds a file of a pack by path; the error suggests the nearest path. */
export function findFile({ name, pack }: OpenedPack, path: string): FileMeta {
  const wanted = path.replace(/^(?:\.\/)+/, '')
  const found = pack.files.find((file) => file.path === wanted)
  if (found !== undefined) return found
  const paths = pack.files.map((file) => file.path)
  const nearest = paths.find((candidate) => candidate.endsWith(`/${wanted}`)) ?? findNearest(wanted, paths)
  throw new PharosError('FILE_NOT_IN_PACK', { file: path, pack: name, nearest: suggest(nearest) })
}
