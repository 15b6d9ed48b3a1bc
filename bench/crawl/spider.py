"""Scrapy's part in the crawl benchmark: follows every link of the host it starts at and makes one item a page."""

import json
import resource
import sys
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.crawler import CrawlerProcess

start, report = sys.argv[1:]


class PageSpider(Spider):
    name = "pages"
    start_urls = [start]
    allowed_domains = [urlsplit(start).hostname]

    def parse(self, response):
        if not hasattr(response, "css"):
            return
        yield {"url": response.url, "title": response.css("title::text").get(), "html": response.text}
        yield from response.follow_all(css="a", callback=self.parse)


process = CrawlerProcess(
    {
        "CONCURRENT_REQUESTS": 16,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        # It drops what leads to another host, and says so for every link.
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
    }
)
process.crawl(PageSpider)
process.start()
usage = resource.getrusage(resource.RUSAGE_SELF)
with open(report, "w", encoding="utf-8") as file:
    json.dump({"cpuSeconds": usage.ru_utime + usage.ru_stime, "peakKilobytes": usage.ru_maxrss}, file)
