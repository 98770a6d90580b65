import { ServerResponse } from 'node:http'
import { readyResponse, writeResponse } from '../src/response-cache/ready-response.ts'
import { BODY, HEAD, requestOf } from './filled-cache.ts'

// Decides whether a recorded head is written at once, with the body as a string, or header by header with the bytes.

const request = requestOf('/page-1')
const ready = readyResponse({ status: 200, head: HEAD, body: BODY })

/** A recorded response of 5,000 bytes. */
export default {
  'head and body in one piece': () => {
    const response = new ServerResponse(request)
    writeResponse(response, ready)
    return response
  },
  'header by header': () => {
    const response = new ServerResponse(request)
    for (let index = 0; index < HEAD.length; index += 2) response.setHeader(HEAD[index]!, HEAD[index + 1]!)
    return response.writeHead(200).end(BODY)
  },
}
