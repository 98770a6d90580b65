export { default } from '../../../web/app/draft/page'
