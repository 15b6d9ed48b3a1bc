import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { deflateSync } from 'node:zlib'
import { closeLater } from '../close-later.ts'
import { createTempFolder, type Files, writeFiles } from './archive-fixture.ts'

/** A Git repository with a working tree. It is deleted after the test. */
export interface Repository {
  readonly folder: string
  /** Its address: `git+file:///…` */
  readonly url: string
  /** Runs git in the repository and returns its output. */
  git(...args: readonly string[]): string
  /** Writes files, deletes those that are `undefined`, and commits everything. Returns the commit id. */
  commit(files: Readonly<Record<string, Files[string] | undefined>>): string
}

/** Keeps the git settings of the user out of the test repositories. */
const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Keeper',
  GIT_AUTHOR_EMAIL: 'keeper@example.com',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'Keeper',
  GIT_COMMITTER_EMAIL: 'keeper@example.com',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
}

/** Makes a repository on branch `main`, with a commit of these files. */
export function createRepository(files: Files): Repository {
  const folder = join(createTempFolder(), 'lamp')
  fs.mkdirSync(folder)
  const git = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: folder, encoding: 'utf8', env: ENVIRONMENT })
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
    return stdout.trim()
  }
  const commit: Repository['commit'] = (changed) => {
    for (const [path, content] of Object.entries(changed)) {
      if (content === undefined) fs.rmSync(join(folder, path))
      else writeFiles(folder, { [path]: content })
    }
    git('add', '--all', '--force')
    git('commit', '--quiet', '--allow-empty', '--message', 'Tend the lamp')
    return git('rev-parse', 'HEAD')
  }
  git('init', '--quiet', '--initial-branch=main')
  commit(files)
  return { folder, url: `git+${pathToFileURL(folder).href}`, git, commit }
}

/** A server of repositories on loopback. */
export interface GitServer {
  readonly origin: string
  /** Requests in order: `GET /lamp/info/refs` */
  readonly requests: string[]
  /** The `Authorization` header that every request must have. @default none is needed */
  authorization: string | undefined
  /** Replaces the response of git. @default the response of git */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  /** Additional environment variables for git on the server. */
  readonly environment: Record<string, string>
}

/** Serves the repositories in a folder with `git http-backend`, until the test is over. */
export async function openGitServer(folder: string): Promise<GitServer> {
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const { authorization, answer } = state
    if (answer !== undefined) answer(request, response)
    else if (authorization !== undefined && request.headers.authorization !== authorization) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="lamps"' }).end()
    } else runBackend(folder, request, response, state.environment)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closeLater(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
  const requests: string[] = []
  const state: GitServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    authorization: undefined,
    answer: undefined,
    environment: {},
  }
  return state
}

/** Runs the CGI program of git. https://git-scm.com/docs/git-http-backend */
function runBackend(
  folder: string,
  request: IncomingMessage,
  response: ServerResponse,
  extraEnvironment: Readonly<Record<string, string>>,
): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
  const backend = spawn('git', ['http-backend'], {
    env: {
      ...ENVIRONMENT,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method ?? 'GET',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      ...extraEnvironment,
    },
  })
  request.pipe(backend.stdin.on('error', () => undefined))
  const pieces: Buffer[] = []
  backend.stdout.on('data', (piece: Buffer) => pieces.push(piece))
  backend.on('close', () => {
    const answer = Buffer.concat(pieces)
    const end = answer.indexOf('\r\n\r\n')
    const fields = answer.toString('latin1', 0, end).split('\r\n')
    const headers = Object.fromEntries(
      fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 2)]),
    )
    const { status = '200', ...others } = headers
    response.writeHead(Number.parseInt(status, 10), others).end(answer.subarray(end + 4))
  })
}

/** A commit with one file of 200 MB in a pack of a few kilobytes: a delta that copies one megabyte two hundred times. */
export function packBomb(): { readonly commit: string; readonly pack: Uint8Array } {
  const base = Buffer.alloc(2 ** 20, 'a')
  const copies = 200
  // The blob id is a placeholder, because nothing computes the real one.
  const tree = Buffer.concat([Buffer.from('100644 big.md\0'), Buffer.alloc(20, 1)])
  const author = 'Keeper <keeper@example.com> 1 +0000'
  const commit = Buffer.from(`tree ${idOf('tree', tree).toString('hex')}\nauthor ${author}\ncommitter ${author}\n\nx\n`)
  const delta = Buffer.concat([
    ...[base.length, base.length * copies].map(writeSize),
    // Copies 0x100000 bytes from the start of the base.
    ...Array.from({ length: copies }, () => Buffer.from([0xc0, 0x10])),
  ])
  const objects = [
    packObject(1, commit),
    packObject(2, tree),
    packObject(3, base),
    packObject(7, delta, idOf('blob', base)),
  ]
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  head.writeUInt32BE(objects.length, 8)
  const pack = Buffer.concat([head, ...objects])
  return { commit: idOf('commit', commit).toString('hex'), pack: Buffer.concat([pack, sha1(pack)]) }
}

function sha1(bytes: Uint8Array): Buffer {
  return createHash('sha1').update(bytes).digest()
}

function idOf(type: string, content: Buffer): Buffer {
  return sha1(Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]))
}

/** Writes a size with seven bits in each byte, the lowest first. */
function writeSize(size: number): Buffer {
  const bytes: number[] = []
  for (let rest = size; ; rest >>>= 7) {
    bytes.push((rest & 127) | (rest > 127 ? 128 : 0))
    if (rest <= 127) return Buffer.from(bytes)
  }
}

/** An object in the format of a pack. https://git-scm.com/docs/gitformat-pack */
function packObject(type: number, content: Buffer, base: Buffer = Buffer.alloc(0)): Buffer {
  const first = (type << 4) | (content.length & 15)
  const rest = content.length >>> 4
  const head = rest === 0 ? Buffer.from([first]) : Buffer.concat([Buffer.from([first | 128]), writeSize(rest)])
  return Buffer.concat([head, base, deflateSync(content)])
}

/** Answers requests like the server of a repository with one commit. https://git-scm.com/docs/protocol-v2 */
export function answerPack({ commit, pack }: ReturnType<typeof packBomb>): NonNullable<GitServer['answer']> {
  const line = (content: string | Buffer) => {
    const bytes = Buffer.from(content)
    return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
  }
  const end = Buffer.from('0000')
  const capabilities = ['version 2\n', 'ls-refs\n', 'fetch=shallow filter\n', 'object-format=sha1\n'].map(line)
  return (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const isFirst = request.method === 'GET'
      const type = isFirst ? 'upload-pack-advertisement' : 'upload-pack-result'
      response.writeHead(200, { 'content-type': `application/x-git-${type}` })
      if (isFirst) response.end(Buffer.concat([line('# service=git-upload-pack\n'), end, ...capabilities, end]))
      else if (Buffer.concat(pieces).includes('command=ls-refs'))
        response.end(Buffer.concat([line(`${commit} HEAD\n`), end]))
      else {
        const shallow = [line('shallow-info\n'), line(`shallow ${commit}\n`), Buffer.from('0001')]
        const packed = line(Buffer.concat([Buffer.from([1]), pack]))
        response.end(Buffer.concat([...shallow, line('packfile\n'), packed, end]))
      }
    })
  }
}

/** Folders of repositories that this process has not cleared away. */
export function listLeftoverRepositories(): string[] {
  return fs.readdirSync(tmpdir()).filter((name) => name.startsWith(`pharos-git-${process.pid}-`))
}
