import { addPlacePages, placeRoutes, readHasFindings } from '../places/index.ts'
import type { AddPages } from './pages/create-pages.ts'
import type { HttpPorts } from './ports.ts'
import type { Route } from './route.ts'
import { addressRoutes } from './routes/addresses.ts'
import { changesRoute } from './routes/changes.ts'
import { crawlRoutes } from './routes/crawls.ts'
import { explainRoute } from './routes/explain.ts'
import { historyRoutes } from './routes/history.ts'
import { importRoutes } from './routes/import.ts'
import { liveRoutes } from './routes/live.ts'
import { loginRoutes } from './routes/login.ts'
import { packRoutes } from './routes/packs.ts'
import { searchRoutes } from './routes/search.ts'
import { sourceRoutes } from './routes/sources.ts'
import { systemRoutes } from './routes/system.ts'
import { workerRoutes } from './routes/workers.ts'

/** All API routes of the server. The pages for people are registered separately. */
export const ROUTES: readonly Route[] = [
  ...crawlRoutes,
  ...workerRoutes,
  ...liveRoutes,
  ...historyRoutes,
  ...sourceRoutes,
  explainRoute,
  changesRoute,
  ...importRoutes,
  ...searchRoutes,
  ...addressRoutes,
  ...placeRoutes,
  ...packRoutes,
  ...systemRoutes,
  ...loginRoutes,
]

/** Whether the library has findings about places, for the navigation. */
export const hasFindings: (ports: HttpPorts) => Promise<boolean> = readHasFindings

/** Pages for people that other parts of the program add. */
export const PAGES: readonly AddPages[] = [addPlacePages]
