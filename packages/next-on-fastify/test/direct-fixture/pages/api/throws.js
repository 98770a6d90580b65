import { runOf } from '../../runs'

export default function handler() {
  runOf('api throws')
  throw new Error('The API has failed')
}
