import { dirname, isAbsolute, join } from 'node:path'
import type { ServerCommand, UserFolders } from './agents.ts'
import { type ConfigChange, checkIsOurs, planFile } from './plan-setup.ts'

/** The name of the units of systemd, without their ending. */
export const UNIT_NAME = 'pharos-refresh'

/** The first line of our units. A user who takes it out keeps the file. */
const UNIT_MARK = '# Written by `pharos setup --timer`'

const SYSTEMD = { id: 'systemd', name: 'systemd' }

/** Plans the units of systemd that run a command now and then, as this user. Writes nothing. */
export function planTimer(folders: UserFolders, command: ServerCommand): ConfigChange[] {
  const texts = { service: writeService(command), timer: TIMER }
  return UNIT_KINDS.map((kind) =>
    planFile(SYSTEMD, kind, unitFile(folders, kind), (before) => {
      if (before === texts[kind]) return { status: 'unchanged', after: before }
      checkIsOurs(before, UNIT_MARK)
      return { status: before === null ? 'add' : 'update', after: texts[kind] }
    }),
  )
}

/** Plans the removal of the units. */
export function planTimerRemoval(folders: UserFolders): ConfigChange[] {
  return UNIT_KINDS.map((kind) =>
    planFile(SYSTEMD, kind, unitFile(folders, kind), (before) => {
      if (before === null) return { status: 'unchanged', after: null }
      checkIsOurs(before, UNIT_MARK)
      return { status: 'remove', after: null }
    }),
  )
}

/** Tells how to stop a timer whose units were removed: systemd keeps it loaded. */
export const STOP_TIMER: string = `Stop it now: systemctl --user stop ${UNIT_NAME}.timer; systemctl --user daemon-reload`

const UNIT_KINDS = ['service', 'timer'] as const

function unitFile({ config }: UserFolders, kind: (typeof UNIT_KINDS)[number]): string {
  return join(config, 'systemd', 'user', `${UNIT_NAME}.${kind}`)
}

/**
 * The PATH is for what the program starts, such as the Node of `npx`, because services lack that of the shell. systemd does not search it for
 * the program itself, so a program without a folder is taken from that of Node.
 */
function writeService({ command, args }: ServerCommand): string {
  const nodeFolder = dirname(process.execPath)
  const path = [nodeFolder, '/usr/local/bin', '/usr/bin', '/bin'].join(':')
  const program = isAbsolute(command) ? command : join(nodeFolder, command)
  return `${UNIT_MARK}
[Unit]
Description=Refresh the sources of Pharos that are due

[Service]
Type=oneshot
Environment=${quote(`PATH=${path}`)}
ExecStart=${[program, ...args].map(quote).join(' ')}
Nice=10
`
}

/** The delay counts from the end of a run, so a long one is never followed by a backlog. */
const TIMER = `${UNIT_MARK}
[Unit]
Description=Look for sources of Pharos that are due for a refresh

[Timer]
OnStartupSec=2min
OnUnitInactiveSec=10min
RandomizedDelaySec=1min

[Install]
WantedBy=timers.target
`

/** Quotes a word for systemd, which replaces `%` and `$` even inside quotes. */
function quote(word: string): string {
  const escaped = word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w./:=@%,+-]+$/.test(escaped) ? escaped : `"${escaped}"`
}
