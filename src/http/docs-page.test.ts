import { expect, test } from 'vitest'
import { createExample } from './docs-page.ts'
import { describeRoutes, writePath } from './openapi.ts'
import { ROUTES } from './table.ts'

const SETTINGS = {
  ...{ hosts: [], allowedOrigins: [], token: null, defaultStartUrl: null, libraryPath: ':memory:', traceStart: false },
}

test('the body that the API page offers to send is accepted by its route', () => {
  const { paths } = describeRoutes(ROUTES, '0.0.0', SETTINGS)
  const bodies = ROUTES.flatMap(({ method, path, body }) => {
    const schema = paths[writePath(path)]?.[method]?.requestBody?.content['application/json']?.schema
    return body === undefined || schema === undefined ? [] : [{ path, body, example: createExample('', schema) }]
  })
  expect(bodies.length).toBeGreaterThan(5)
  for (const { path, body, example } of bodies) expect(body.safeParse(example).error, path).toBe(undefined)
  const schedule = bodies.find(({ path }) => path.endsWith('/schedule'))
  expect(schedule?.example).toEqual({ every: '1d' })
})
