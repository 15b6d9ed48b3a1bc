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
    advice: 'mend the JSON, or name another file with --config',
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
    message: '{source} was imported, and cannot be read again',
    advice: 'import it again with `pharos import <file>`',
    httpStatus: 409,
    exitCode: 2,
  },
  IMPORT_RUNNING: {
    message: 'another import is under way',
    advice: 'wait for it to end, then ask again',
    httpStatus: 409,
    exitCode: 1,
  },
  IMPORT_INVALID: {
    message: '{what} cannot be imported: {problem}',
    advice: 'mend it and import it again; nothing was changed',
    httpStatus: 422,
    exitCode: 2,
  },
  SOURCE_EMPTY: {
    message: 'nothing to pack in {path}: {problem}',
    advice: 'see what was skipped with --verbose; ignore files and limits decide what is read',
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
    message: '{source} is no page: {reason} ({detail})',
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
    message: '{path} is not a pack that can be read: {problem}',
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
      'a chunk is named by <source>/<id>, its id, or at least the first twelve characters of it, where only one chunk of a source begins so; search again, as its page may have changed',
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
    advice: 'ask again without a cursor; each answer gives the one that goes on after it',
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
    advice: '`pharos list` shows the sources; one is named by id, name, name@version or start URL',
    httpStatus: 404,
    exitCode: 3,
  },
  VERSION_UNKNOWN: {
    message: 'no version {version} of {name}{versions}',
    advice: 'ask for one that is there, a range such as 5.x, latest, or none',
    httpStatus: 404,
    exitCode: 3,
  },
  CRAWL_RUNNING: {
    message: '{source} is being crawled by another process',
    advice: 'wait for it to end; `pharos status {source}` shows how far it is',
    httpStatus: 409,
    exitCode: 1,
  },
  JOBS_FULL: {
    message: '{what}, as many as {rule}',
    advice: 'wait for one of them to end, then ask again',
    httpStatus: 429,
    exitCode: 1,
  },
  WORKERS_MISSING: {
    message: 'no worker has joined that could begin a crawl',
    advice: 'start one with `pharos worker`, or let the crawl wait for one with "queue": true',
    httpStatus: 503,
    exitCode: 1,
  },
  JOB_UNKNOWN: {
    message: 'no job {job} is waiting or running here, nor ended a moment ago',
    advice: 'a job is named by its id, a UUID; GET /api/crawls lists those there are, /api/queues those there were',
    httpStatus: 404,
    exitCode: 3,
  },
  ANALYSIS_RUNNING: {
    message: 'an analysis run goes on already: {run}',
    advice: 'wait for it to end; GET /api/analysis/{run} tells how far it is',
    httpStatus: 409,
    exitCode: 1,
  },
  ANALYSIS_START_FAILED: {
    message: 'the analysis could not be started: {problem}',
    advice: 'the log of the server tells more; `pharos analyze` does the same on the command line',
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
    advice: '`pharos status {source}` tells what runs, or what ran last',
    httpStatus: 409,
    exitCode: 1,
  },
  CRAWL_UNFINISHED: {
    message: 'the last {kind} of {source} was interrupted, and what it left undone would be lost',
    advice: 'finish it with `pharos recrawl {source}`, then run the same command again',
    httpStatus: 409,
    exitCode: 1,
  },
  CRAWL_UNPREPARED: {
    message: 'not enough is known of {host} for a crawl of its history: {missing} not reached',
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
    advice: 'look at `pharos explain`, then run the same command with --accept-loss if they are really gone',
    httpStatus: 409,
    exitCode: 4,
  },
  CRAWL_PARKED: {
    message: '{hosts} kept failing or asked to be left alone, and {count} addresses were not fetched',
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
    message: 'the library {library} was written by a newer Pharos (schema {found}, this one knows {supported})',
    advice: 'upgrade Pharos, or use another library',
    httpStatus: 500,
    exitCode: 1,
  },
  LIBRARY_UNUSABLE: {
    message: 'the library {library} cannot be used: {problem}',
    advice: 'check the place and its permissions, or use another library',
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
    message: 'the library {library} is kept locked by another process',
    advice: 'wait for it to end, or end it, then run the same command again',
    httpStatus: 503,
    exitCode: 1,
  },
  LIBRARY_UNREACHABLE: {
    message: 'the library {library} does not answer: {problem}',
    advice: 'start its server, or mend the address and the password, then run the same command again',
    httpStatus: 503,
    exitCode: 1,
  },
  LIBRARY_READ_ONLY: {
    message: 'the library {library} cannot be written: {problem}',
    advice: 'make its place writable, then run the same command again, or use another library',
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
    advice: 'wait for it to end, then run the same command again; it goes on where that one was',
    httpStatus: 409,
    exitCode: 1,
  },
  COPY_DIFFERS: {
    message: 'the copy is not yet what {origin} holds: {problem}',
    advice: 'run the same command again: it mends what differs',
    httpStatus: 500,
    exitCode: 1,
  },
  EMBEDDER_MISSING: {
    message: 'this library is used without an embedding model',
    advice: 'use it with `pharos`, which has one built in',
    httpStatus: 409,
    exitCode: 3,
  },
  GAZETTEER_NOT_INSTALLED: {
    message: 'the data of the gazetteer could not be put in {folder}: {problem}',
    advice: '{advice}',
    httpStatus: 502,
    exitCode: 3,
  },
  GAZETTEER_UNREADABLE: {
    message: 'the names of the gazetteer cannot be read, and could not be written anew',
    advice: 'see that the library can be written, then run `pharos gazetteer import` again; what was found is kept',
    httpStatus: 503,
    exitCode: 1,
  },
  MODEL_UNUSABLE: {
    message: 'the built-in embedding model cannot be used: {problem}',
    advice: 'install Pharos again; search goes on by words',
    httpStatus: 500,
    exitCode: 1,
  },
  EMBED_REFUSED: {
    message: '{service} makes no vector of what it was given: {problem}',
    advice: 'texts are found by words all the same; `pharos embed status` lists those that were refused',
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
    message: 'the vector of chunk {chunk} cannot be kept: {problem}',
    advice: 'nothing of its batch was written; check the model with `pharos embed status`',
    httpStatus: 500,
    exitCode: 1,
  },
  VECTOR_SPACE_OTHER: {
    message: 'the library has vectors of {found}, which cannot be compared with those of {given}',
    advice: 'use their model, or make them anew with `pharos embed run --replace`',
    httpStatus: 409,
    exitCode: 1,
  },
  ROUTE_UNKNOWN: {
    message: 'there is nothing at {path}',
    advice: '`/docs` lists what this server answers',
    httpStatus: 404,
    exitCode: 3,
  },
  METHOD_REFUSED: {
    message: '{path} does not take {method}',
    advice: 'it takes {allowed}; `/docs` tells what for',
    httpStatus: 405,
    exitCode: 2,
  },
  ADDRESS_TOO_LONG: {
    message: 'the address has {length} characters, more than the {most} that are read',
    advice: 'send less at once; lists go on with their cursor',
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
    message: 'this server is not known as {host}',
    advice: 'ask for it as localhost or 127.0.0.1, or add the name to the setting allowedHosts',
    httpStatus: 421,
    exitCode: 1,
  },
  ORIGIN_REFUSED: {
    message: 'pages of {origin} may not use this server',
    advice: 'use its own pages, or add that origin to the setting allowedOrigins',
    httpStatus: 403,
    exitCode: 1,
  },
  TOKEN_REQUIRED: {
    message: 'this server answers only to those who have its token',
    advice: 'send it as `Authorization: Bearer <token>`, or open /login in a browser',
    httpStatus: 401,
    exitCode: 1,
  },
  STREAMS_FULL: {
    message: '{count} event streams are open, as many as there may be at once',
    advice: 'close one, or ask again later',
    httpStatus: 503,
    exitCode: 1,
  },
  JOB_UNREACHABLE: {
    message: 'the process of job {job} takes no commands',
    advice: 'wait for it to end, or stop it',
    httpStatus: 500,
    exitCode: 1,
  },
  JOB_WAITS: {
    message: 'job {job} waits for its turn and has no process yet',
    advice: 'ask again when it runs, or stop it',
    httpStatus: 409,
    exitCode: 1,
  },
  PACK_UNKNOWN: {
    message: 'no pack {pack} on this server',
    advice: '`GET /api/packs` lists those that were asked for',
    httpStatus: 404,
    exitCode: 3,
  },
  PACK_UNREADY: {
    message: 'the pack {pack} is {state}',
    advice: 'ask again when its state is ready',
    httpStatus: 409,
    exitCode: 1,
  },
  STORE_UNAVAILABLE: {
    message: 'the library cannot be used at the moment{reason}',
    advice: 'try again in a moment; the log of the server tells under this id what is wrong',
    httpStatus: 503,
    exitCode: 1,
  },
  SERVER_RUNNING: {
    message: 'a server runs on the library {library} already, at {origin}',
    advice: 'use that one, or end it first: it is process {pid}',
    httpStatus: 409,
    exitCode: 1,
  },
  SERVER_MISSING: {
    message: 'no server of this machine runs on the library {library}',
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

/** A stable name of a failure, for catching and for documentation. */
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

/** The message of an error, without its name. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function fillTemplate(template: string, details: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? ''))
}
