import { expect, test } from 'vitest'
import { describeLogin } from './postgres-login.ts'

test('quotes the role, the database and the schema, and writes the command that creates the database', () => {
  expect(describeLogin('postgres://m%20e@db.example:5433/my-db?schema=team')).toEqual({
    role: '"m e"',
    database: '"my-db"',
    schema: '"team"',
    createdb: "createdb -h db.example -p 5433 -U 'm e' my-db",
  })
  expect(describeLogin('postgres://me@/d?host=/run/pg').createdb).toBe('createdb -h /run/pg -U me d')
  expect(describeLogin('postgres://h')).toMatchObject({ role: '<role>', createdb: 'createdb -h h <database>' })
})
