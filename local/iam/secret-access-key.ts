/** The secret of each access key here. Only presigned URLs are verified with it. */
export const SECRET_ACCESS_KEY = 'local';
