export { default } from '../../../web/pages/api/revalidate'
