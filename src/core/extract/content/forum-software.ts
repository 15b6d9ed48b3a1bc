/** A forum program and where its pages have the posts of a thread. */
export interface ForumSoftware {
  readonly name: string
  /** Selectors of the text of a post. */
  readonly body: string
  /** Selectors of the writer and the date of a post. */
  readonly byline?: string
}

/** The known forum programs. If several match, the one whose posts have the most text is used. */
export const FORUM_SOFTWARE: readonly ForumSoftware[] = [
  {
    name: 'discourse',
    body: '.crawler-post .post, .topic-post .cooked, .topic-body .cooked',
    byline: '.crawler-post .creator, .crawler-post time, .topic-meta-data .username, .topic-meta-data .post-date',
  },
  {
    name: 'xenforo',
    body: '.message-body .bbWrapper, .messageContent .messageText',
    byline: '.message-name, .message-attribution-main time, .messageMeta .username, .messageMeta .DateTime',
  },
  {
    name: 'stack exchange',
    body: '.js-post-body, .post-text',
  },
  {
    name: 'phpbb',
    body: '.postbody .content, .postbody > div > .content, .post .content[id^=post_content]',
    byline: '.postbody .author',
  },
  {
    name: 'vbulletin',
    body: '.postcontent, [id^=post_message_], .js-post__content-text, .b-post__content .js-post__content-text',
    byline: '.username_container .username, .postdate, .postbit .bigusername',
  },
  {
    name: 'invision',
    body: '.cPost [data-role=commentContent], .ipsComment [data-role=commentContent], .ipsEntry__content .ipsRichText--user, .ipsComment_content .ipsType_richText[data-role=commentContent]',
    byline: '.cAuthorPane_author, .ipsComment_meta time, .ipsEntry__header time, .ipsEntry__username',
  },
  { name: 'simple machines', body: '.post_wrapper .inner, .postarea .post .inner', byline: '.post_wrapper .poster h4' },
  { name: 'mybb', body: '.post_body', byline: '.post_author .largetext, .post_date' },
  {
    name: 'vanilla',
    body: '.MessageList .Message, .Item-Body .Message, .Item-Body .userContent',
    byline: '.Item-Header .Username, .DateCreated time',
  },
  { name: 'flarum', body: '.Post-body', byline: '.PostUser-name .username, .Post-header time' },
  { name: 'nodebb', body: '[component="post/content"]', byline: '[component=post] [itemprop=author]' },
  {
    name: 'khoros',
    body: '.lia-message-body-content',
    byline: '.lia-user-name-link, .lia-message-posted-on',
  },
  {
    name: 'reddit',
    body: '.sitetable .usertext-body .md, shreddit-post [slot=text-body], shreddit-comment [slot=comment]',
    byline: '.sitetable .tagline .author, .sitetable .tagline time',
  },
  { name: 'hacker news', body: '.toptext, .commtext', byline: '.comhead .hnuser, .comhead .age' },
  { name: 'github', body: '.js-comment-body, .comment-body.markdown-body, [data-testid=markdown-body]' },
  { name: 'discuz', body: '.t_f, .t_fsz', byline: '.authi .xw1' },
  { name: 'bbpress', body: '.bbp-topic-content, .bbp-reply-content', byline: '.bbp-author-name, .bbp-reply-post-date' },
]
