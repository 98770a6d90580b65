import type { FastifyRequest } from 'fastify'
import type { Values } from '../src/request/placeholders.ts'
import { parseTemplate } from '../src/request/path-template.ts'

const values: Values = {
  request: { params: { id: '4711', name: 'Zoë & Söhne' }, query: { page: '2' } } as unknown as FastifyRequest,
  callValue: () => ({ account: 17 }),
}

const PATHS = ['/users/{params.id}', '/search/{params.name}?page={query.page}&of={calls.a.account}']

export default Object.fromEntries(
  PATHS.map((path) => {
    const template = parseTemplate(path, 'path', { allowEncodedSlash: false })
    return [`the path ${path}`, { 'filled in': () => template.render(values) }]
  }),
)
