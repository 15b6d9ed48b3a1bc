import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { codeOf } from '../core/errors.ts'
import { backupOf, type ConfigChange } from './plan-setup.ts'

/** A change that could not be written, with the reason. */
export interface FailedChange extends ConfigChange {
  readonly problem: string
}

/** Writes planned changes. A file that cannot be written, or changed since it was read, is left alone and returned. */
export function applyChanges(changes: readonly ConfigChange[]): FailedChange[] {
  return changes.flatMap((change) => {
    if (change.after === change.before) return []
    const problem = applyChange(change)
    return problem === undefined ? [] : [{ ...change, problem }]
  })
}

function applyChange({ file, kind, before, after, status }: ConfigChange): string | undefined {
  try {
    if (isBrokenLink(file)) return 'it is a link to a missing file'
    const target = existsSync(file) ? realpathSync(file) : file
    const present = existsSync(target) ? readFileSync(target, 'utf8') : null
    if (present !== before) return 'it changed in the meantime; run the command again'
    if (present !== null && (statSync(target).mode & 0o222) === 0) return 'it is read-only'
    // A file that already has our entry is no state to return to.
    if (status === 'add' && before !== null) copyFileSync(target, backupOf(file))
    if (after !== null) replaceFile(file, after, 0o644)
    else {
      rmSync(target)
      // systemd starts the timer with the session of the user by this link.
      if (kind === 'timer') rmSync(join(dirname(file), 'timers.target.wants', basename(file)), { force: true })
      // The folder of our skill holds nothing else. Folders of configuration files belong to the agents and the user.
      if (kind === 'skill' && readdirSync(dirname(target)).length === 0) rmdirSync(dirname(target))
    }
    if (status === 'remove') rmSync(backupOf(file), { force: true })
    return undefined
  } catch (error) {
    const code = codeOf(error)
    if (code === '') throw error
    return `it cannot be written (${code})`
  }
}

/** Whether a path is a symbolic link to a missing file. */
export function isBrokenLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true && !existsSync(file)
}

/**
 * Replaces the text of a file, or of the file that a link leads to, at once, so that a crash leaves the old text or the new one. An existing
 * file keeps its permissions; a new one gets those of `mode`.
 */
export function replaceFile(file: string, text: string, mode: number): void {
  const target = existsSync(file) ? realpathSync(file) : file
  mkdirSync(dirname(target), { recursive: true })
  const temporary = `${target}.${process.pid}.tmp`
  try {
    writeFileSync(temporary, text, { mode: 0o600 })
    chmodSync(temporary, existsSync(target) ? statSync(target).mode & 0o777 : mode)
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
