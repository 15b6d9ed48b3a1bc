import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { closeLater } from '../close-later.ts'
import { installPackages } from '../install-packages.ts'
import { asPostgresUser, SOCKET } from './server.ts'

/** How long PgBouncer assigns a session to a connection. */
export type PoolMode = 'session' | 'transaction'

/** A port that accepts only TLS, with the files of its certificate and key. */
export interface TlsPort {
  readonly port: string
  readonly certFile: string
  readonly keyFile: string
}

const PROGRAM = '/usr/sbin/pgbouncer'
const START_MS = 60_000

/**
 * Starts a real PgBouncer in front of a database of the test server, and returns the address of its socket. With a certificate, it accepts
 * only TLS on a port. It ends with the test.
 */
export async function startPgBouncer(
  database: string,
  mode: PoolMode,
  tls?: TlsPort,
  server: string = inject('postgres'),
): Promise<string> {
  if (!existsSync(PROGRAM)) installPackages(['pgbouncer'])
  if (!existsSync(PROGRAM))
    throw new Error('no PgBouncer: install it, as root on Debian with apt-get install pgbouncer')
  const folder = mkdtempSync(join(server, 'pool-'))
  chmodSync(folder, 0o777)
  const port = tls?.port ?? '5432'
  const users = join(folder, 'users.txt')
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(users, '"pharos" ""\n')
  writeFileSync(
    settings,
    `[databases]
${database} = host=${server} user=pharos
[pgbouncer]
unix_socket_dir = ${folder}
${describeListening(tls)}
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = ${mode === 'session' ? 40 : 4}
max_client_conn = 100
logfile = ${join(folder, 'log')}
`,
  )
  const [program, args] = asPostgresUser(PROGRAM, ['-q', settings])
  const child = spawn(program, args, { cwd: folder, stdio: 'ignore' })
  const ended = new Promise((resolve) => child.on('close', resolve))
  closeLater(async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  for (
    const end = performance.now() + START_MS;
    !existsSync(join(folder, SOCKET.replace('5432', port)));
    await sleep(20)
  ) {
    if (child.exitCode !== null || performance.now() > end) throw new Error('PgBouncer did not start')
  }
  return `postgres://pharos@/${database}?host=${folder}&port=${port}`
}

function describeListening(tls: TlsPort | undefined): string {
  if (tls === undefined) return 'listen_addr =\nlisten_port = 5432'
  const { port, certFile, keyFile } = tls
  return `listen_addr = 127.0.0.1
listen_port = ${port}
client_tls_sslmode = require
client_tls_cert_file = ${certFile}
client_tls_key_file = ${keyFile}`
}
