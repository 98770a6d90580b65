import { runOf } from '../../runs'

export default async function handler(_, response) {
  runOf('api half')
  response.write('half')
  response.end()
  throw new Error('The API has failed after its answer')
}
