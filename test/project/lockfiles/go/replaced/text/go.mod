module example.com/text
