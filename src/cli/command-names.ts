import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram } from '../config.ts'
import { PACKAGE_NAME, VERSION } from '../version.ts'
import { shellWord } from './terminal.ts'

/** Only the launcher script of a checkout passes this option to Node. */
const LAUNCHER_OPTION = '--heap-growing-percent='

/** The file that Node runs for a command. */
const MAIN_FILE = fileURLToPath(import.meta.url.replace(/command-names(\.\w+)$/, 'main$1'))

/** How this program is started. */
export interface CommandNames {
  /** The command for a user in the current folder, such as `./pharos`. */
  readonly here: string
  /** The program, for a configuration file, and the arguments that come before those of a command. */
  readonly anywhere: { readonly command: string; readonly args: readonly string[] }
}

/** How this program is started: in a checkout by its launcher, unless a link to that is on the PATH. */
export function findCommandNames(): CommandNames {
  if (process.execArgv.some((option) => option.startsWith(LAUNCHER_OPTION))) {
    const launcher = join(fileURLToPath(new URL('../..', import.meta.url)), 'pharos')
    const linked = findProgram('pharos')
    const isLinked = linked !== undefined && realpathSync(linked) === realpathSync(launcher)
    const isHere = join(process.cwd(), 'pharos') === launcher
    const here = isLinked ? 'pharos' : isHere ? './pharos' : shellWord(launcher)
    return { here, anywhere: { command: launcher, args: [] } }
  }
  // The folder of `npx` is temporary. Otherwise, agents with a window often lack the PATH of the shell, so the program is named in full.
  const isTemporary = /[\\/]_npx[\\/]/.test(MAIN_FILE)
  const release = `${PACKAGE_NAME}@${VERSION}`
  return isTemporary
    ? { here: `npx ${release}`, anywhere: { command: 'npx', args: ['-y', release] } }
    : { here: 'pharos', anywhere: { command: process.execPath, args: [MAIN_FILE] } }
}
