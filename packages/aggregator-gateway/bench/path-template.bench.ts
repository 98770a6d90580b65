import { test } from 'vitest'
import { parseTemplate, type Values } from '../src/template.ts'

const values: Values = {
  params: { id: '4711', name: 'Zoë & Söhne' },
  query: { page: '2' },
  headers: {},
  body: undefined,
  callValue: () => ({ account: 17 }),
}

for (const path of [
  '/users/me',
  '/users/{params.id}',
  '/search/{params.name}?page={query.page}&of={calls.a.account}',
]) {
  const template = parseTemplate(path, 'path')
  test(`the path ${path}`, async ({ bench }) => {
    await bench('filled in', () => {
      template.render(values)
    }).run()
  })
}
