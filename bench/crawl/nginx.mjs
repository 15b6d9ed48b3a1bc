// Runs an nginx on a free port of this machine, and reads its access log.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Debian installs nginx in a folder that is not on every PATH. */
const PATH = `${process.env.PATH}:/usr/sbin`

/** Tells whether a program can be started. */
export function isInstalled(name) {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name], { env: { ...process.env, PATH } }).status === 0
}

/** Serves `folder` until `stop` is called; nginx keeps its configuration and logs in `stateFolder`. */
export async function startNginx(folder, stateFolder) {
  const port = await findPort()
  const log = join(stateFolder, 'access.log')
  mkdirSync(join(stateFolder, 'temporary'), { recursive: true })
  writeFileSync(join(stateFolder, 'nginx.conf'), writeConfig(folder, stateFolder, port))
  const args = ['-p', stateFolder, '-c', join(stateFolder, 'nginx.conf'), '-e', join(stateFolder, 'error.log')]
  const child = spawn('nginx', args, {
    env: { ...process.env, PATH },
    stdio: 'ignore',
  })
  const url = `http://127.0.0.1:${port}/`
  for (let tries = 0; !(await isListening(url)); tries++) {
    if (tries === 100) throw new Error(`nginx does not listen, see ${join(stateFolder, 'error.log')}`)
    await sleep(50)
  }
  return {
    url,
    /** Returns the requests since the last call: `status`, `type`, `path`. */
    takeLog() {
      const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1)
      writeFileSync(log, '')
      return lines.map(parseLine)
    },
    /** Number of pages sent since the log was last taken. */
    countPages: () => readFileSync(log, 'utf8').split('\n').slice(0, -1).map(parseLine).filter(isPage).length,
    stop: () =>
      new Promise((resolve) => {
        child.on('exit', resolve)
        child.kill()
      }),
  }
}

/** Whether a request returned a page or a 304. */
export function isPage({ status, type }) {
  return status === 304 || (status === 200 && type === 'text/html')
}

function parseLine(line) {
  const [status, type, path] = line.split(' ')
  return { status: Number(status), type, path }
}

function writeConfig(folder, stateFolder, port) {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${stateFolder}/temporary;`,
  )
  return `worker_processes 1;
daemon off;
pid ${stateFolder}/nginx.pid;
error_log ${stateFolder}/error.log;
events { worker_connections 256; }
http {
  types { text/html html; text/plain txt; text/css css; text/javascript js; image/svg+xml svg; image/png png; }
  default_type application/octet-stream;
  etag on;
  sendfile on;
  keepalive_requests 100000;
  log_format bench '$status $sent_http_content_type $request_uri';
  access_log ${stateFolder}/access.log bench;
  ${temporary.join('\n  ')}
  server { listen 127.0.0.1:${port}; root ${folder}; index index.html; }
}
`
}

function findPort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

async function isListening(url) {
  return fetch(`${url}robots.txt`).then(
    () => true,
    () => false,
  )
}
