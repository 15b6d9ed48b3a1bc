import type { Command } from 'commander'
import type { EffectiveConfig } from '../../config.ts'
import { usageError } from '../../core/errors.ts'
import { isPostgres } from '../../core/url/postgres-address.ts'
import type { Log } from '../../http/ports.ts'
import type { SettingName } from '../../settings/settings.ts'
import { AdvisedError } from '../advised-error.ts'
import { interruptible } from '../interrupt.ts'
import { addLibraryOptions, createHint, openConfiguredLibrary, READ_SETTINGS, shownLibrary } from '../library.ts'
import { type CommonFlags, configOf } from '../options/options.ts'
import { retryUntilReachable } from '../retry-until-reachable.ts'
import { countOf, printableLine, type Streams, Terminal } from '../terminal.ts'
import { EMBED_SETTINGS } from '../text/embed-status.ts'
import { startAliveFile } from './alive-file.ts'
import { untilAborted } from './serve.ts'
import { createServeLog } from './serve-log.ts'

interface WorkerFlags extends CommonFlags {
  readonly aliveFile?: string
  readonly jsonLogs?: boolean
}

const WORKER_SETTINGS: readonly SettingName[] = ['maxCrawls', 'maxRequests', 'drainTime']

/** `pharos worker` */
export function addWorker(program: Command, streams: Streams): void {
  const command = program
    .command('worker')
    .description(
      'take crawls, analysis and embedding from the queue of a library in PostgreSQL, beside its other workers',
    )
    .option('--json-logs', 'write the log as JSON, one object a line')
    .option('--alive-file <path>', 'update this file every few seconds, for liveness probes that check its age')
    .addHelpText(
      'after',
      '\nAny number of workers, on any number of machines, share the work of a library.\nEach job from `pharos serve` or --detach goes to one of them. If a worker dies,\nanother one continues its jobs. The settings of a worker decide what it may\nfetch, and how: give all workers the same settings.\n\nExamples:\n  $ pharos worker --library postgres://pharos@db/pharos\n  $ pharos worker --max-crawls 4 --drain-time 30s',
    )
  addLibraryOptions(command, [...WORKER_SETTINGS, ...READ_SETTINGS, ...EMBED_SETTINGS])
  command.action(async (flags: WorkerFlags) => {
    const config = configOf(command)
    refuseLibraryFile(config)
    // Log collectors read both streams, so stdout must be JSON too.
    const terminal = new Terminal({ ...flags, json: flags.json === true || flags.jsonLogs === true }, streams)
    const log = createServeLog(streams.stderr, {
      isJson: flags.jsonLogs === true,
      isQuiet: flags.quiet === true,
      hasRequests: false,
    })
    const writeNote = (text: string) => (flags.jsonLogs === true ? log.info(text) : terminal.note(text))
    const stopAliveFile = flags.aliveFile === undefined ? undefined : startAliveFile(flags.aliveFile)
    try {
      await interruptible(
        (signal) => runWorker(config, log, terminal, signal),
        () => writeNote('finishing the running jobs, taking no new ones … (press Ctrl-C again to stop at once)'),
      )
    } finally {
      stopAliveFile?.()
    }
  })
}

async function runWorker(config: EffectiveConfig, log: Log, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { createConfiguredWorker, createLazyQueue } = await import('./worker-setup.ts')
  const library = await retryUntilReachable(log, signal, () => openConfiguredLibrary(config, (text) => log.warn(text)))
  const queue = createLazyQueue(config, log)
  try {
    const worker = createConfiguredWorker(config, library, await retryUntilReachable(log, signal, queue.open), {
      log,
      isServer: false,
    })
    await worker.start()
    const { maxCrawls, drainTime } = config.values
    const libraryName = shownLibrary(config.values)
    terminal.answer(`Pharos worker for ${printableLine(libraryName)}: up to ${countOf(maxCrawls, 'crawl')} at once`, {
      ...{ library: libraryName, maxCrawls, pid: process.pid },
    })
    await untilAborted(signal)
    await worker.drain(drainTime)
  } finally {
    await queue.close()
    await library.close()
  }
}

/** Rejects a library file, whose crawls a single process runs. */
function refuseLibraryFile(config: EffectiveConfig): void {
  const { library } = config.values
  if (isPostgres(library)) return
  const problem = `${shownLibrary(config.values)} is a file, and only \`pharos serve\` runs its crawls; workers need a library in PostgreSQL`
  const serve = createHint(config)('serve')
  throw new AdvisedError(
    usageError(problem),
    `run \`${serve}\`, or name a database with --library postgres://user@host/database; \`pharos copy <from> <to>\` copies a library there`,
  )
}
