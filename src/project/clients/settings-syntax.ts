import { PharosError } from '../../core/errors.ts'
import type { ProjectFile } from '../locked-package.ts'
import { createSettingsError } from './client-settings.ts'

/** Parses a settings file with a parser of lock files. Its errors name the file as settings, and quote none of the content. */
export function rethrowAsSettings<T>({ path }: ProjectFile, parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    if (!(cause instanceof PharosError) || cause.code !== 'LOCKFILE_INVALID') throw cause
    const { line, problem } = cause.details
    const plain = String(problem)
      .replace(/^line \d+: /, '')
      .replace(/ \(.*\)$/s, '')
    throw createSettingsError(path, typeof line === 'number' ? line : undefined, plain)
  }
}
