import type { Context, Hono } from 'hono'
import type { Html } from '../../http/pages/parts.ts'
import type { HttpPorts } from '../../http/ports.ts'
import { ANALYSIS_JOB_ID } from '../../library/ports/job-log.ts'
import { findLatestRun, renderAnalyses, renderRun, startRun } from './analysis-pages.ts'
import {
  renderCountries,
  renderCountry,
  renderGazetteer,
  renderKind,
  renderPlace,
  renderPlaces,
} from './gazetteer-pages.ts'
import { renderHubs } from './hub-pages.ts'
import { type AnalysisStores, analysisStoresOf } from './place-stores.ts'

/** Adds the pages of analyses, gazetteer and hubs. */
export function addPlacePages(app: Hono, ports: HttpPorts): void {
  const withStores =
    (render: (c: Context, stores: AnalysisStores, ports: HttpPorts) => Promise<Html>) =>
    async (c: Context): Promise<Response> =>
      c.html(await render(c, analysisStoresOf(await ports.library()), ports))

  // Milestones of analysis runs link here.
  app.get(`/queues/${ANALYSIS_JOB_ID}/ssr`, (c) => c.redirect('/analysis/latest'))
  app.get('/analysis/ssr', async (c) => c.html(await renderAnalyses(c, ports)))
  app.get('/analysis/latest', async (c) => c.redirect(await findLatestRun(ports)))
  app.get('/analysis/:id/ssr', async (c) => c.html(await renderRun(c, ports)))
  // A reload, or the redirect after a login, requests this address with GET.
  app.get('/analysis/start', (c) => c.redirect('/analysis/ssr'))
  app.post('/analysis/start', async (c) => c.redirect(await startRun(c, ports), 303))
  app.get('/gazetteer', async (c) => c.html(await renderGazetteer(c, ports)))
  app.get('/gazetteer/places', withStores(renderPlaces))
  app.get('/gazetteer/countries', withStores(renderCountries))
  app.get('/gazetteer/country/:cc', withStores(renderCountry))
  app.get('/gazetteer/kind/:kind', withStores(renderKind))
  app.get('/gazetteer/place/:id', withStores(renderPlace))
  app.get('/hubs', withStores(renderHubs))
}
