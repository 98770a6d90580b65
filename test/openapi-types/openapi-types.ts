import openapiTS, { astToString } from 'openapi-typescript'

/** The file that the command `openapi-typescript` writes for a document. */
export async function openApiTypes(document: string): Promise<string> {
  return astToString(await openapiTS(document))
}
