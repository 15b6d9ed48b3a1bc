/** All errors of the program, defined once. Every surface renders this table; codes are never reused. */
export const ERRORS = {
  USAGE: {
    message: '{problem}',
    advice: 'run `pharos help` or `pharos help <verb>` for the right spelling',
    httpStatus: 400,
    exitCode: 2,
  },
  OPTION_INVALID: {
    message: '{problem}',
    advice: 'correct the option',
    httpStatus: 400,
    exitCode: 2,
  },
  CONFIG_INVALID: {
    message: 'configuration {origin}: {problem}',
    advice: 'correct the value; `pharos doctor` lists every setting with its origin',
    httpStatus: 500,
    exitCode: 2,
  },
  CONFIG_UNREADABLE: {
    message: 'configuration file {file} cannot be used: {problem}',
    advice: 'fix the JSON, or use another file with --config',
    httpStatus: 500,
    exitCode: 2,
  },
  SOURCE_NOT_FOUND: {
    message: 'there is nothing at {path}',
    advice: 'check the path or address; a relative path starts at the current directory',
    httpStatus: 404,
    exitCode: 3,
  },
  SOURCE_IS_PACK: {
    message: '{path} is itself a pack',
    advice: 'search it with `pharos search … --pack`, or name the folder it was made from',
    httpStatus: 400,
    exitCode: 2,
  },
  SOURCE_UNREADABLE: {
    message: '{path} cannot be used: {problem}',
    advice: '{advice}',
    httpStatus: 422,
    exitCode: 3,
  },
  SOURCE_IMPORTED: {
    message: '{source} was imported as chunks and cannot be crawled again',
    advice: 'import it again with `pharos import <file>`',
    httpStatus: 409,
    exitCode: 2,
  },
  IMPORT_RUNNING: {
    message: 'another import is under way',
    advice: 'wait for it to end, then try again',
    httpStatus: 409,
    exitCode: 1,
  },
  IMPORT_INVALID: {
    message: '{what} cannot be imported: {problem}',
    advice: 'correct the data and import it again; the library is unchanged',
    httpStatus: 422,
    exitCode: 2,
  },
  SOURCE_EMPTY: {
    message: 'nothing to pack in {path}: {problem}',
    advice: 'run with --verbose to list the skipped files; ignore files and limits decide which files are read',
    httpStatus: 422,
    exitCode: 3,
  },
  SOURCE_CHANGED: {
    message: '{path} changed while the pack was written',
    advice: 'run the same command again; nothing was replaced',
    httpStatus: 409,
    exitCode: 1,
  },
  INPUT_NOT_FOUND: {
    message: 'there is no file at {path}',
    advice: 'check the path; a relative one starts at the current directory',
    httpStatus: 404,
    exitCode: 3,
  },
  INPUT_UNREADABLE: {
    message: '{source} cannot be read: {problem}',
    advice: '{advice}',
    httpStatus: 422,
    exitCode: 3,
  },
  PAGE_REFUSED: {
    message: '{source} cannot be read as a page: {reason} ({detail})',
    advice: '{advice}',
    httpStatus: 422,
    exitCode: 3,
  },
  OUTPUT_REFUSED: {
    message: 'cannot write {path}: {problem}',
    advice: 'choose another place with --out',
    httpStatus: 409,
    exitCode: 1,
  },
  PACK_NOT_FOUND: {
    message: 'there is no pack at {path}',
    advice: 'make one with `pharos pack <folder> --out <dir|zip>`',
    httpStatus: 404,
    exitCode: 3,
  },
  PACK_INVALID: {
    message: '{path} is not a valid pack: {problem}',
    advice: 'make it again with `pharos pack`',
    httpStatus: 422,
    exitCode: 1,
  },
  PACK_VERSION: {
    message: 'pack format {found} is newer than this program ({supported})',
    advice: 'upgrade Pharos, or make the pack again with this version',
    httpStatus: 422,
    exitCode: 1,
  },
  CHUNK_NOT_FOUND: {
    message: 'no chunk {chunk} in {pack}{nearest}',
    advice: 'a chunk is named by its ref (c0001), its id or the first twelve characters of its id',
    httpStatus: 404,
    exitCode: 3,
  },
  CHUNK_UNKNOWN: {
    message: 'no chunk {chunk} in {library}',
    advice:
      'give <source>/<id>, the whole id, or at least its first twelve characters if they are unique; if the page has changed, search again for the new id',
    httpStatus: 404,
    exitCode: 3,
  },
  PAGE_UNKNOWN: {
    message: 'no page {url} in {library}{known}{nearest}',
    advice: '`pharos search` shows the addresses of pages, `pharos explain <source> <url>` tells why one is missing',
    httpStatus: 404,
    exitCode: 3,
  },
  CURSOR_INVALID: {
    message: 'the cursor {cursor} cannot be used: {problem}',
    advice: 'repeat the request without a cursor; each answer contains the cursor of its next page',
    httpStatus: 400,
    exitCode: 2,
  },
  FILE_NOT_IN_PACK: {
    message: 'no file {file} in {pack}{nearest}',
    advice: '`pharos outline --pack <pack>` lists the files',
    httpStatus: 404,
    exitCode: 3,
  },
  SOURCE_EXISTS: {
    message: 'there is already a source {source}{other}',
    advice: 'crawl it again with `pharos recrawl {source}`, or give this one another --name or --version',
    httpStatus: 409,
    exitCode: 2,
  },
  SOURCE_UNKNOWN: {
    message: 'no source {source} in {library}{nearest}',
    advice: '`pharos list` lists the sources; refer to one by its id, name, name@version or start URL',
    httpStatus: 404,
    exitCode: 3,
  },
  VERSION_UNKNOWN: {
    message: 'no version {version} of {name}{versions}',
    advice: 'give a version that exists, a range such as 5.x, or latest; or leave the version out',
    httpStatus: 404,
    exitCode: 3,
  },
  CRAWL_RUNNING: {
    message: '{source} is being crawled by another process',
    advice: 'wait for it to end; `pharos status {source}` shows its progress',
    httpStatus: 409,
    exitCode: 1,
  },
  JOBS_FULL: {
    // For example `2 crawls are under way, as many as are allowed at once`.
    message: '{what}, as many as {rule}',
    advice: 'wait for one of them to end, then try again',
    httpStatus: 429,
    exitCode: 1,
  },
  WORKERS_MISSING: {
    message: 'no worker is running that can start the crawl',
    advice: 'start one with `pharos worker`, or let the crawl wait for one with "queue": true',
    httpStatus: 503,
    exitCode: 1,
  },
  JOB_UNKNOWN: {
    message: 'no job {job} is queued, running or recently ended on this server',
    advice: 'give the id of a job, a UUID; GET /api/crawls lists current jobs, GET /api/queues past ones',
    httpStatus: 404,
    exitCode: 3,
  },
  ANALYSIS_RUNNING: {
    message: 'an analysis is already running: {run}',
    advice: 'wait for it to end; GET /api/analysis/{run} shows its progress',
    httpStatus: 409,
    exitCode: 1,
  },
  ANALYSIS_START_FAILED: {
    message: 'the analysis could not be started: {problem}',
    advice: 'check the server log, or run `pharos analyze` on the command line',
    httpStatus: 500,
    exitCode: 1,
  },
  RUN_UNKNOWN: {
    message: 'there is no analysis run {run}',
    advice: 'a run is named by its id, a UUID; GET /api/analysis lists them',
    httpStatus: 404,
    exitCode: 3,
  },
  PLACE_UNKNOWN: {
    message: 'there is no place {place} in the gazetteer',
    advice: 'a place is named by its number; GET /api/gazetteer/resolve finds it by a name',
    httpStatus: 404,
    exitCode: 3,
  },
  CRAWL_UNKNOWN: {
    message: 'no crawl {crawl} in {library}',
    advice: 'a crawl is named by its id, a UUID; `pharos status` shows the last one of each source',
    httpStatus: 404,
    exitCode: 3,
  },
  CRAWL_NOT_RUNNING: {
    message: 'no crawl of {source} is running{where}',
    advice: '`pharos status {source}` shows the current or the last crawl',
    httpStatus: 409,
    exitCode: 1,
  },
  CRAWL_UNFINISHED: {
    message: 'the last {kind} of {source} was interrupted; this command would discard the rest of it',
    advice: 'finish it with `pharos recrawl {source}`, then run the same command again',
    httpStatus: 409,
    exitCode: 1,
  },
  CRAWL_UNPREPARED: {
    message: 'too little is known about {host} for a history crawl; milestones not reached: {missing}',
    advice: 'crawl it with --crawl-type intelligent first, or give --force',
    httpStatus: 409,
    exitCode: 1,
  },
  CRAWL_START_FAILED: {
    message: 'nothing could be indexed: {problem}',
    advice: '{advice}',
    httpStatus: 502,
    exitCode: 3,
  },
  CRAWL_LOSS: {
    message: 'this crawl would remove {removable} of {pages} pages; nothing was removed',
    advice:
      'check some of them with `pharos explain`; if they are really gone, run the same command with --accept-loss',
    httpStatus: 409,
    exitCode: 4,
  },
  CRAWL_PARKED: {
    message: '{hosts} kept failing or asked for a long pause; {count} addresses were not fetched',
    advice: 'try again later with `pharos retry`',
    httpStatus: 503,
    exitCode: 5,
  },
  URL_INVALID: {
    message: '{url} cannot be crawled: {problem}',
    advice: 'give an address that begins with http:// or https://, or a repository or package',
    httpStatus: 400,
    exitCode: 2,
  },
  FETCH_FAILED: {
    message: '{url} could not be fetched: {problem}',
    advice: '{advice}',
    httpStatus: 502,
    exitCode: 3,
  },
  LIBRARY_NEWER: {
    message:
      'the library {library} was written by a newer Pharos (schema {found}; this version supports up to {supported})',
    advice: 'upgrade Pharos, or use another library',
    httpStatus: 500,
    exitCode: 1,
  },
  LIBRARY_UNUSABLE: {
    message: 'the library {library} cannot be used: {problem}',
    advice: 'check its location and permissions, or use another library',
    httpStatus: 503,
    exitCode: 1,
  },
  LIBRARY_MISSING: {
    message: 'the library {library} does not exist',
    advice: 'check its path, or make one with `pharos add`',
    httpStatus: 503,
    exitCode: 1,
  },
  LIBRARY_FULL: {
    message: 'there is no room left for the library {library}: {problem}',
    advice: 'free some space, then run the same command again; nothing half-written was left behind',
    httpStatus: 507,
    exitCode: 1,
  },
  LIBRARY_LOCKED: {
    message: 'another process has locked the library {library}',
    advice: 'wait until that process ends, or stop it; then run the same command again',
    httpStatus: 503,
    exitCode: 1,
  },
  LIBRARY_UNREACHABLE: {
    message: 'the library {library} does not answer: {problem}',
    advice: 'start the database server, or correct the address and the password; then run the same command again',
    httpStatus: 503,
    exitCode: 1,
  },
  LIBRARY_READ_ONLY: {
    message: 'the library {library} cannot be written: {problem}',
    advice: 'grant write access to it, then run the same command again, or use another library',
    httpStatus: 503,
    exitCode: 1,
  },
  COPY_REFUSED: {
    message: '{origin} is not copied to {target}: {problem}',
    advice: '{advice}',
    httpStatus: 409,
    exitCode: 2,
  },
  COPY_RUNNING: {
    message: 'another process is copying to {target}',
    advice: 'wait until it ends, then run the same command again; it resumes where the other process stopped',
    httpStatus: 409,
    exitCode: 1,
  },
  COPY_DIFFERS: {
    message: 'the copy differs from {origin}: {problem}',
    advice: 'run the same command again to correct the differences',
    httpStatus: 500,
    exitCode: 1,
  },
  EMBEDDER_MISSING: {
    message: 'this library was opened without an embedding model',
    advice: 'open it with the command-line program `pharos`, which has a built-in model',
    httpStatus: 409,
    exitCode: 3,
  },
  GAZETTEER_NOT_INSTALLED: {
    message: 'the gazetteer data could not be installed in {folder}: {problem}',
    advice: '{advice}',
    httpStatus: 502,
    exitCode: 3,
  },
  GAZETTEER_UNREADABLE: {
    message: 'the name index of the gazetteer is unreadable and could not be rebuilt',
    advice:
      'make sure that the library is writable, then run `pharos gazetteer import` again; places already found in pages are kept',
    httpStatus: 503,
    exitCode: 1,
  },
  MODEL_UNUSABLE: {
    message: 'the built-in embedding model cannot be used: {problem}',
    advice: 'install Pharos again; until then search matches words only',
    httpStatus: 500,
    exitCode: 1,
  },
  EMBED_REFUSED: {
    message: '{service} could not embed the input: {problem}',
    advice: 'the texts can still be found by their words; `pharos embed status` lists the refused texts',
    httpStatus: 422,
    exitCode: 1,
  },
  SERVICE_UNUSABLE: {
    message: '{service} at {url} cannot be used: {problem}',
    advice: '{advice}',
    httpStatus: 502,
    exitCode: 3,
  },
  BROWSER_MISSING: {
    message: 'pages cannot be rendered: {problem}',
    advice: '{advice}',
    httpStatus: 409,
    exitCode: 3,
  },
  READ_FAILED: {
    message: '{url} could not be read: {problem}',
    advice: '{advice}',
    httpStatus: 502,
    exitCode: 3,
  },
  VECTOR_INVALID: {
    message: 'the vector of chunk {chunk} cannot be stored: {problem}',
    advice: 'no vector of this batch was stored; check the model with `pharos embed status`',
    httpStatus: 500,
    exitCode: 1,
  },
  VECTOR_SPACE_OTHER: {
    message: 'the library has vectors of {found}, which cannot be compared with those of {given}',
    advice: 'use the model {found}, or embed everything again with `pharos embed run --replace`',
    httpStatus: 409,
    exitCode: 1,
  },
  ROUTE_UNKNOWN: {
    message: 'there is nothing at {path}',
    advice: '`/docs` lists the routes of this server',
    httpStatus: 404,
    exitCode: 3,
  },
  METHOD_REFUSED: {
    message: '{path} does not support {method}',
    advice: 'use {allowed}; `/docs` describes each route',
    httpStatus: 405,
    exitCode: 2,
  },
  ADDRESS_TOO_LONG: {
    message: 'the URL has {length} characters; the limit is {most}',
    advice: 'shorten the query; use the cursor to page through lists',
    httpStatus: 414,
    exitCode: 2,
  },
  BODY_TOO_LARGE: {
    message: 'the body is larger than {most} bytes',
    advice: 'send less at once',
    httpStatus: 413,
    exitCode: 2,
  },
  BODY_NOT_JSON: {
    message: 'the body is {type}, not JSON',
    advice: 'send it as application/json',
    httpStatus: 415,
    exitCode: 2,
  },
  HOST_REFUSED: {
    message: 'this server does not accept the host name {host}',
    advice: 'use localhost or 127.0.0.1, or add the name to the setting allowedHosts',
    httpStatus: 421,
    exitCode: 1,
  },
  ORIGIN_REFUSED: {
    message: 'pages of {origin} may not use this server',
    advice: 'use the pages of this server, or add the origin to the setting allowedOrigins',
    httpStatus: 403,
    exitCode: 1,
  },
  TOKEN_REQUIRED: {
    message: 'authentication required: this server needs a token',
    advice: 'send it as `Authorization: Bearer <token>`, or open /login in a browser',
    httpStatus: 401,
    exitCode: 1,
  },
  STREAMS_FULL: {
    message: 'the limit of event streams is reached: {count} are open',
    advice: 'close one, or try again later',
    httpStatus: 503,
    exitCode: 1,
  },
  JOB_UNREACHABLE: {
    message: 'the process of job {job} does not accept commands',
    advice: 'wait for it to end, or stop it',
    httpStatus: 500,
    exitCode: 1,
  },
  JOB_WAITS: {
    message: 'job {job} is queued and has not started yet',
    advice: 'repeat the request when the job runs, or stop the job',
    httpStatus: 409,
    exitCode: 1,
  },
  PACK_UNKNOWN: {
    message: 'no pack {pack} on this server',
    advice: '`GET /api/packs` lists the packs of this server',
    httpStatus: 404,
    exitCode: 3,
  },
  PACK_UNREADY: {
    message: 'the pack {pack} is {state}',
    advice: 'try again when its state is ready',
    httpStatus: 409,
    exitCode: 1,
  },
  STORE_UNAVAILABLE: {
    message: 'the library cannot be used at the moment{reason}',
    advice: 'try again in a moment; the server log has the details under this id',
    httpStatus: 503,
    exitCode: 1,
  },
  SERVER_RUNNING: {
    message: 'a server for the library {library} is already running at {origin}',
    advice: 'use that server, or stop it first (process {pid})',
    httpStatus: 409,
    exitCode: 1,
  },
  SERVER_MISSING: {
    message: 'no server for the library {library} is running on this machine',
    advice: 'start one with `pharos serve`, or leave out --detach',
    httpStatus: 503,
    exitCode: 1,
  },
  SERVER_REFUSED: {
    message: '{who} refused: {problem}',
    advice: '{advice}',
    httpStatus: 502,
    exitCode: 1,
  },
  INTERRUPTED: {
    message: 'interrupted',
    advice: 'nothing half-written was left behind; run the same command again',
    httpStatus: 499,
    exitCode: 130,
  },
  INTERNAL: {
    message: 'unexpected failure: {problem}',
    advice: 'this is a defect of Pharos; run again with --verbose and report what it prints',
    httpStatus: 500,
    exitCode: 1,
  },
} as const

/** The meaning of one code on every surface. */
export interface ErrorEntry {
  /** States what happened, with placeholders in braces for the received values. */
  readonly message: string
  /** Tells the reader what to do next. `{advice}` is replaced by advice that depends on the cause. */
  readonly advice: string
  readonly httpStatus: number
  readonly exitCode: number
}

/** The stable name of a failure, which programs catch and documentation uses. */
export type ErrorCode = keyof typeof ERRORS

/** A failure with a code from {@link ERRORS}. Catch by `code`, never by message. */
export class PharosError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, string | number>>

  constructor(code: ErrorCode, details: Readonly<Record<string, string | number>> = {}, options?: ErrorOptions) {
    super(fillTemplate(ERRORS[code].message, details), options)
    this.name = 'PharosError'
    this.code = code
    this.details = details
  }

  /** Message, advice, HTTP status and exit code of this failure. A failure may have more specific advice than the table. */
  get entry(): ErrorEntry {
    const entry = ERRORS[this.code]
    return { ...entry, advice: String(this.details['advice'] ?? fillTemplate(entry.advice, this.details)) }
  }
}

/** The code of an error of Node or of a driver, such as `ENOENT`; empty if the error has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** The message of an error, without its name. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function fillTemplate(template: string, details: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? ''))
}
