/** The tables of jobs, their history, and workers. */
export const JOB_TABLES: string = `
-- Requests to a server for a crawl.
CREATE TABLE crawl_jobs (
  id text COLLATE "C" PRIMARY KEY,
  -- Order of the requests.
  number bigint GENERATED ALWAYS AS IDENTITY,
  url text NOT NULL,
  args text NOT NULL,
  pid bigint,
  started_at bigint,
  ended_at bigint,
  status text COLLATE "C" NOT NULL,
  -- Distinguishes the process from others with the same pid.
  process_began text,
  created_at bigint NOT NULL,
  crawl_id text,
  source_id text,
  restarts integer NOT NULL,
  progress text,
  problem text,
  -- Updated with the events, so that a list of jobs need not count them.
  events bigint NOT NULL DEFAULT 0,
  last_event_at bigint,
  -- The worker that has the job or had it last, and the name of its crawl process as a lease holder.
  worker text COLLATE "C",
  holder text COLLATE "C",
  -- Commands for the running job.
  asked_end text COLLATE "C",
  wants_pause boolean NOT NULL DEFAULT false,
  -- Whether the requester was told that the job starts at once.
  is_begun boolean NOT NULL DEFAULT false
);
CREATE INDEX crawl_jobs_newest ON crawl_jobs ((status = 'queued'), coalesce(started_at, created_at), number);
CREATE INDEX crawl_jobs_open ON crawl_jobs (created_at) WHERE status IN ('queued', 'running');
CREATE INDEX crawl_jobs_ended ON crawl_jobs (ended_at) WHERE status NOT IN ('queued', 'running');

CREATE TABLE queue_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id text COLLATE "C" NOT NULL,
  ts bigint NOT NULL,
  action text COLLATE "C" NOT NULL,
  url text NOT NULL,
  depth integer,
  host text,
  reason text,
  queue_size bigint NOT NULL,
  alias text
);
CREATE INDEX queue_events_by_job ON queue_events (job_id, id);
CREATE INDEX queue_events_by_action ON queue_events (job_id, action, id);

${['crawl_problems', 'crawl_milestones']
  .map(
    (table) => `CREATE TABLE ${table} (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id text COLLATE "C" NOT NULL,
  ts bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  scope text COLLATE "C",
  target text,
  message text,
  details text
);
CREATE INDEX ${table}_by_job ON ${table} (job_id, id);
CREATE INDEX ${table}_by_kind ON ${table} (kind, id);
CREATE INDEX ${table}_by_scope ON ${table} (left(scope, 512), id);`,
  )
  .join('\n\n')}
-- A milestone is stored once per job and scope.
CREATE INDEX crawl_milestones_once ON crawl_milestones (job_id, kind, left(scope, 512));

-- Processes that take jobs. Each repeats its entry every second, so the table may be lost in a crash of the server.
CREATE UNLOGGED TABLE workers (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  version text NOT NULL,
  is_server boolean NOT NULL,
  slots integer NOT NULL,
  state text COLLATE "C" NOT NULL,
  jobs text[] NOT NULL,
  helps text[] NOT NULL,
  holders text[] NOT NULL,
  visits bigint NOT NULL,
  bytes bigint NOT NULL,
  visits_per_sec double precision NOT NULL,
  started_at bigint NOT NULL,
  -- By the clock of the database server, in milliseconds.
  seen_at double precision NOT NULL
);

-- Batches of live events that workers send to servers. Kept for a minute; the events are only displayed.
CREATE UNLOGGED TABLE passed_on (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  worker text COLLATE "C" NOT NULL,
  at double precision NOT NULL,
  body text NOT NULL
);

CREATE TABLE crawl_types (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  description text,
  declaration text NOT NULL
);
`
