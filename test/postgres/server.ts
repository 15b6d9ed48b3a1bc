import { execFile, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { installPackages } from '../install-packages.ts'

/** A PostgreSQL server for tests. Its data is deleted when it is stopped, unless it was started in a given folder. */
export interface PostgresServer {
  /** Folder of its socket and its data. */
  readonly folder: string
  /** The process that started all other processes of the server. */
  readonly pid: number
  /** Address of one of its databases. */
  addressOf(database: string): string
  /** Ends the server as a power cut would. `start` starts it again on the same data. */
  crash(): void
  start(): void
  /** Kills all processes of the server with SIGKILL and starts it again, without blocking this process. */
  killAndStart(): Promise<void>
  stop(): void
}

const ROOT = '/usr/lib/postgresql'
/** The name of the socket of a server in its folder. */
export const SOCKET = '.s.PGSQL.5432'
const SHARED_MEMORY = '/dev/shm'

/** Committed data survives a kill of the server, as long as the machine runs. */
export const DURABLE_SETTINGS: readonly string[] = ['full_page_writes=on', 'synchronous_commit=on']

/**
 * Starts a real PostgreSQL on a socket in a temporary folder, as a user other than root. `overrides` replace default settings. A server in
 * `keptFolder` keeps its data for the next one that is started there.
 */
export function startPostgres(overrides: readonly string[] = [], keptFolder?: string): PostgresServer {
  const programs = locatePrograms()
  // The folder is in memory if possible, because the server creates and removes thousands of files. Its path is short, because a socket
  // path is limited to about a hundred characters.
  const folder = keptFolder ?? mkdtempSync(join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir(), 'pharos-pg-'))
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o755)
  if (process.getuid?.() === 0) run('chown', ['postgres:', folder])
  const data = join(folder, 'data')
  const log = join(folder, 'log')
  // The data need not survive a crash of the machine. Autovacuum is off, because it would visit each of hundreds of databases in turn.
  const settings = [
    "listen_addresses=''",
    `unix_socket_directories='${folder}'`,
    'fsync=off',
    'full_page_writes=off',
    'synchronous_commit=off',
    'max_connections=200',
    'autovacuum=off',
    'jit=off',
    ...overrides,
  ]
  const control = (...args: readonly string[]) => runAsPostgresUser(...controlCommand(args), folder)
  const controlCommand = (args: readonly string[]) =>
    [join(programs, 'pg_ctl'), ['-D', data, '-l', log, '-w', ...args]] as const
  const readPid = () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
  if (!existsSync(data)) createCluster(join(programs, 'initdb'), data, folder)
  const startArgs = ['-t', '60', '-o', settings.map((one) => `-c ${one}`).join(' '), 'start']
  const start = () => control(...startArgs)
  start()
  return {
    folder,
    get pid() {
      return readPid()
    },
    addressOf: (database) => `postgres://pharos@/${database}?host=${folder}`,
    start,
    crash: () => {
      // SIGQUIT ends all processes of the server at once, as kill -9 would.
      process.kill(readPid(), 'SIGQUIT')
      for (let tries = 0; existsSync(join(data, 'postmaster.pid')) && tries < 500; tries++) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
      }
    },
    async killAndStart() {
      const pid = readPid()
      const children = childrenOf(pid)
      // The parent is killed first, because it would replace a child that ends.
      for (const one of [pid, ...children]) signal(one, 'SIGKILL')
      // The server refuses to start while processes of the old one still exist.
      while ([pid, ...children].some((one) => signal(one, 0))) await sleep(20)
      await promisify(execFile)(...asPostgresUser(...controlCommand(startArgs)), { cwd: folder })
    },
    stop: () => {
      control('-m', keptFolder === undefined ? 'immediate' : 'fast', 'stop')
      if (keptFolder === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

function createCluster(program: string, data: string, folder: string): void {
  const options = ['-U', 'pharos', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C.UTF-8']
  runAsPostgresUser(program, ['-D', data, ...options], folder)
  // One user needs a password; all others are let in.
  const rules = join(data, 'pg_hba.conf')
  writeFileSync(rules, `local all guarded scram-sha-256\n${readFileSync(rules, 'utf8')}`)
}

/** The folder of the PostgreSQL programs, which are installed first if they are missing. */
function locatePrograms(): string {
  if (findPrograms() === undefined) installPackages(['postgresql'])
  const found = findPrograms()
  if (found !== undefined) return found
  throw new Error(`no PostgreSQL under ${ROOT}: install it, as root on Debian with apt-get install postgresql`)
}

function findPrograms(): string | undefined {
  const versions = existsSync(ROOT) ? readdirSync(ROOT).sort((a, b) => Number(b) - Number(a)) : []
  return versions.map((version) => join(ROOT, version, 'bin')).find((folder) => existsSync(join(folder, 'initdb')))
}

/** Child processes of a process, or none if it is gone. */
export function childrenOf(pid: number): number[] {
  const list = `/proc/${pid}/task/${pid}/children`
  return existsSync(list) ? readFileSync(list, 'utf8').split(' ').filter(Boolean).map(Number) : []
}

/** The socket folder in an address of the server. */
export function folderOf(address: string): string {
  // The host part of the address is empty, because the host is a folder. `URL` does not accept that.
  return new URL(address.replace('@/', '@folder/')).searchParams.get('host') ?? ''
}

/** Sends a signal. Returns whether the process exists. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

function runAsPostgresUser(program: string, args: readonly string[], cwd: string): void {
  run(...asPostgresUser(program, args), cwd)
}

/** The command that runs a program, as the user `postgres` if this process is root, because PostgreSQL refuses to run as root. */
export function asPostgresUser(program: string, args: readonly string[]): [program: string, args: string[]] {
  return process.getuid?.() === 0 ? ['runuser', ['-u', 'postgres', '--', program, ...args]] : [program, [...args]]
}

function run(program: string, args: readonly string[], cwd?: string): void {
  const { status, stderr, error } = spawnSync(program, args, {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`)
}
