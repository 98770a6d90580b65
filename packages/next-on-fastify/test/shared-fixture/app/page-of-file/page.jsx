import { version } from '../../version.js'

export const revalidate = 2_592_000

export default async function Page() {
  return <h1>{`version ${await version('page-of-file')}`}</h1>
}
