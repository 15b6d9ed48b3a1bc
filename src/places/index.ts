/* The door of places for servers. The other doors are `node.ts` for libraries and `verbs.ts` for the command line. */
import type { Route } from '../http/route.ts'
import { analysisRoutes } from './http/analysis-routes.ts'
import { gazetteerRoutes } from './http/gazetteer-routes.ts'
import { hubRoutes } from './http/hub-routes.ts'

export { readHasFindings } from './http/has-findings.ts'
export { addPlacePages } from './http/place-pages.ts'
export { AnalysisProcessRunner } from './runs/analysis-process-runner.ts'
export { createSharedAnalysis } from './runs/create-shared-analysis.ts'

/** Routes of analyses, gazetteer and hubs. */
export const placeRoutes: readonly Route[] = [...analysisRoutes, ...gazetteerRoutes, ...hubRoutes]
