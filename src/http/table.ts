import type { Route } from './route.ts'
import { addressRoutes } from './routes/addresses.ts'
import { crawlRoutes } from './routes/crawls.ts'
import { historyRoutes } from './routes/history.ts'
import { liveRoutes } from './routes/live.ts'
import { loginRoutes } from './routes/login.ts'
import { packRoutes } from './routes/packs.ts'
import { searchRoutes } from './routes/search.ts'
import { sourceRoutes } from './routes/sources.ts'
import { systemRoutes } from './routes/system.ts'

/** Everything that programs can ask of the server. The pages for people are beside it. */
export const ROUTES: readonly Route[] = [
  ...crawlRoutes,
  ...liveRoutes,
  ...historyRoutes,
  ...sourceRoutes,
  ...searchRoutes,
  ...addressRoutes,
  ...packRoutes,
  ...systemRoutes,
  ...loginRoutes,
]
